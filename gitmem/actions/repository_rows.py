"""Registered repositories with what their indexes hold now. Nothing is stored, so the numbers cannot drift."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gitmem.answering.answer_json import json_path
from gitmem.answering.index_status import Status, read_status
from gitmem.display import count, shares, size, visible
from gitmem.errors import GitmemError
from gitmem.freshness.index_runs import IndexRun, read_runs
from gitmem.named_tuple import NamedTuple
from gitmem.registry import KnownRepository, read_registry
from gitmem.settings import SETTINGS, Setting, Settings, Value
from gitmem.workspace import open_workspace

MISSING: Final = "Missing"
"""State of a repository whose folder does not exist."""

UNREADABLE: Final = "Unreadable"
"""State of a repository that cannot be opened, for example because its index is of a newer gitmem."""


_INDEX_SETTINGS: Final = (
    "maxFileBytes", "chunkMaxBytes", "chunkOverlapBytes", "include", "exclude", "languages",
    "provider", "model", "dimensions", "queryPrefix", "passagePrefix", "pooling",
)  # fmt: skip
"""Settings that decide what an index holds."""


class RepositoryRow(NamedTuple):
    """Registered repository. `state` is that of `gitmem status`, MISSING or UNREADABLE, with the reason in `problem`.

    `last_run` is the last run that changed the index, `settings` those of the repository if it can be opened.
    """

    name: str
    path: str
    state: str
    problem: str = ""
    status: Status | None = None
    last_run: IndexRun | None = None
    settings: Settings | None = None

    @property
    def errors(self) -> list[str]:
        """Files that the last run could not index, with the reasons."""
        return list(self.last_run.report.get("problems") or []) if self.last_run else []


def read_rows(environment: Mapping[str, str]) -> list[RepositoryRow]:
    """Return all registered repositories in order of name."""
    return [read_row(known, environment) for known in read_registry(environment)]


def read_row(known: KnownRepository, environment: Mapping[str, str]) -> RepositoryRow:
    """Return the present state of a registered repository."""
    # A row is made anew for each call: stored numbers would differ from the index after every commit.
    row = RepositoryRow(known.name, str(known.path), MISSING)
    # The folder was moved or deleted, or its disk is not mounted: the entry stays, the user decides.
    if not known.path.is_dir():
        return row
    try:
        workspace = open_workspace(known.path, environment)
        status = read_status(workspace)
        runs = read_runs(workspace.paths)
    except GitmemError as problem:
        return row._replace(state=UNREADABLE, problem=problem.message)
    return row._replace(state=status.state, status=status, last_run=runs[-1] if runs else None,
                        settings=workspace.settings)  # fmt: skip


def row_json(row: RepositoryRow) -> dict[str, Any]:
    """Return a repository as JSON values; numbers are 0 without an index."""
    status = row.status or _EMPTY
    return {
        "name": row.name,
        "path": json_path(row.path),
        "state": row.state,
        "problem": row.problem,
        "commit": status.commit,
        "files": status.files,
        "indexed": status.indexed,
        "not_indexed": status.not_indexed,
        "skipped": dict(status.skipped),
        "chunks": status.chunks,
        "languages": {
            name: {"files": files, "chunks": status.language_chunks[name]} for name, files in status.languages.items()
        },
        "chunk_types": dict(status.chunk_types),
        "bytes": status.bytes,
        "model": status.model,
        "settings": {setting.name: value for setting, value in _index_settings(row)},
        "last_run": row.last_run and run_json(row.last_run, with_report=False),
        "errors": row.errors,
    }


def _index_settings(row: RepositoryRow) -> list[tuple[Setting, Value]]:
    """Return the settings that decide what the index of a repository holds, with the values in force."""
    if row.settings is None:
        return []
    values: Any = row.settings  # its fields are those of SETTINGS, in their order
    return [pair for pair in zip(SETTINGS, values, strict=True) if pair[0].name in _INDEX_SETTINGS]


def _describe_settings(row: RepositoryRow) -> str:
    """Return the settings of the index that were changed."""
    changed = [
        f"{setting.name} {', '.join(value) if isinstance(value, tuple) else value}"
        for setting, value in _index_settings(row)
        if value != setting.default
    ]
    return "; ".join(changed) or "default"


def totals_json(rows: Sequence[RepositoryRow]) -> dict[str, int]:
    """Return the sums of the rows."""
    # Summed from the rows that are shown, so that a reader can check them.
    values = [row_json(row) for row in rows]
    names = ("files", "indexed", "not_indexed", "chunks", "bytes")
    return {"repositories": len(rows), **{name: sum(value[name] for value in values) for name in names}}


def run_json(run: IndexRun, *, with_report: bool = True) -> dict[str, Any]:
    """Return a logged run as JSON values."""
    head = {"at": run.at, "event": run.event, "folder": json_path(run.folder)}
    return {**head, **(run.report if with_report else {"status": run.report.get("status", "")})}


def list_lines(rows: Sequence[RepositoryRow]) -> list[str]:
    """Return a line for each repository, and one with their sums."""
    cells = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    totals = totals_json(rows)
    sums = f"{count(totals['files'], 'file')}, {count(totals['chunks'], 'chunk')}, {size(totals['bytes'])}"
    return [*lines, f"{count(len(rows), 'repository', 'repositories')}: {sums}"] if rows else []


def _cells(row: RepositoryRow) -> list[str]:
    status = row.status or _EMPTY
    numbers = [count(status.files, "file"), count(status.chunks, "chunk"), size(status.bytes)]
    return [visible(row.name), row.state, *(numbers if status.generation else ["-"] * 3), visible(row.path)]


def row_lines(row: RepositoryRow) -> list[str]:
    """Return what is known of a repository as lines."""
    lines = [f"{visible(row.name)}: {row.state}", f"  path       {visible(row.path)}"]
    if row.problem:
        lines.append(f"  problem    {visible(row.problem)}")
    status = row.status
    if status is None or not status.generation:
        return lines
    parts = f"{status.indexed:,} indexed, {status.not_indexed:,} not yet, {status.skipped.total():,} skipped"
    lines.append(f"  commit     {status.commit or 'none'}")
    lines.append(f"  files      {status.files:,}: {parts}")
    lines.append(f"  chunks     {status.chunks:,}")
    for name, files in status.languages.most_common():
        lines.append(f"  language   {name}: {count(files, 'file')}, {count(status.language_chunks[name], 'chunk')}")
    if status.chunk_types:
        lines.append(f"  types      {shares(status.chunk_types)}")
    lines.append(f"  index      {size(status.bytes)}")
    lines.append(f"  model      {visible(status.model)}")
    lines.append(f"  settings   {visible(_describe_settings(row))}")
    if row.last_run:
        lines.append(f"  last run   {run_line(row.last_run)}")
    return [*lines, *(f"  error      {visible(error)}" for error in row.errors)]


def run_line(run: IndexRun) -> str:
    """Return a logged run as a line."""
    report = run.report
    chunks = f"chunks {report.get('chunks_before', 0):,} -> {report.get('chunks', 0):,}"
    embedded = count(int(report.get("blobs_embedded", 0)), "blob")
    return f"{run.at}  {visible(run.event)}  {report.get('status', '')}  {embedded} embedded, {chunks}"


_EMPTY: Final = Status("", "", None, None, Path())
