"""The state of an index as lines of text and as JSON values: the same for the command line, MCP and HTTP."""

from typing import Any

from gitmem.answering.answer_json import json_path
from gitmem.answering.index_status import Status
from gitmem.answering.weights_in_force import FITTED, TuningState
from gitmem.display import count, shares, size, visible
from gitmem.freshness.cancellation import RunProgress


def status_lines(status: Status) -> list[str]:
    """Return the lines of `gitmem status` below the first."""
    lines = [f"problem    {visible(problem)}; run `gitmem verify --repair`" for problem in status.problems]
    if status.outdated:
        lines.append(f"outdated   {status.outdated}; `gitmem index` builds it again")
    if status.memory_problem:
        lines.append(f"memory     {visible(status.memory_problem)}")
    if status.partial and not status.writing:
        lines.append("partial    the first run was interrupted; `gitmem index` continues it")
    if status.unfinished and not status.writing:
        blobs = count(status.unfinished, "blob")
        lines.append(f"unfinished a full run was interrupted after {blobs}; `gitmem index --full` continues it")
    lines += run_lines(status)
    if status.unknown:
        lines.append(f"unknown    {visible(status.unknown)}")
    skipped = status.skipped.total()
    # The three numbers add up to the first one, so that a reader can check them.
    parts = f"{status.indexed:,} indexed, {status.not_indexed:,} not yet, {skipped:,} skipped"
    lines.append(f"files      {status.files:,}: {parts}")
    if status.uncommitted:
        later = f"; {count(status.pending, 'file')} not indexed yet: left to the next query" if status.pending else ""
        lines.append(f"changed    {shares(status.uncommitted)}{later}")
    if skipped:
        lines.append(f"skipped    {shares(status.skipped)}")
    lines.append(f"chunks     {status.chunks:,} in this tree, {status.chunks_total:,} in the index")
    if status.languages:
        lines.append(f"languages  {shares(status.languages)}")
        lines.append(f"types      {shares(status.chunk_types)}")
    lines.append(f"index      {visible(str(status.place))}, {size(status.bytes)}, generation {status.generation}, "
                 f"{count(status.segments, 'segment')}, {count(status.trees, 'tree')}")  # fmt: skip
    lines += [f"updated    {status.updated}"] if status.updated else []
    lines += [f"digest     {status.digest}"] if status.digest else []
    lines.append(f"model      {visible(status.model)}")
    if status.other_model:
        lines.append(f"           `gitmem index` embeds everything again with the selected `{status.provider}`")
    lines.append(f"provider   {status.provider}; {visible(status.provider_data)}")
    lines.append(f"weights    {visible(_weights(status.tuning))}")
    return lines


def run_lines(status: Status) -> list[str]:
    """Return the line about a process that writes the index now, if there is one."""
    if not status.writing:
        return []
    if not status.run:
        return ["writing    another process is writing this index"]
    return [f"writing    `{visible(status.run)}` is running{_describe(status.progress)}; `gitmem cancel` stops it"]


def _describe(progress: RunProgress | None) -> str:
    """Return how far a run is, as a part of a sentence."""
    if progress is None:
        return ""
    text = f", {progress.blobs:,} of {count(progress.blobs_total, 'file')}, {count(progress.chunks, 'chunk')}"
    return f"{text}, last `{visible(progress.path)}`" if progress.path else text


def _weights(tuning: TuningState) -> str:
    """Return which weights of the lexical and the semantic score are in force."""
    weights = tuning.weights
    if weights is None:
        return f"default; {tuning.problem}" if tuning.problem else "default"
    if tuning.state != FITTED:
        return "default; the fitted ones are for another model or ranking, run `gitmem eval --tune`"
    values = f"semantic {weights.semantic:g}, lexical {weights.lexical:g}"
    return f"fitted here: {values}; NDCG@10 {weights.gain:+.3f} on {count(weights.queries, 'held-out commit')}"


def status_json(status: Status) -> dict[str, Any]:
    """Return the state as JSON values."""
    return {
        "state": status.state,
        "head": status.head,
        "commit": status.commit,
        "tree": status.tree,
        "files": {
            "total": status.files,
            "indexed": status.indexed,
            "not_indexed": status.not_indexed,
            "pending": status.pending,
            "skipped": dict(status.skipped),
        },
        "uncommitted": None if status.unknown else dict(status.uncommitted),
        "partial": status.partial,
        "unfinished": status.unfinished,
        "writing": status.writing,
        "run": status.run,
        "progress": status.progress and {**status.progress._asdict(), "path": json_path(status.progress.path)},
        "chunks": {"head": status.chunks, "total": status.chunks_total},
        "languages": dict(status.languages),
        "language_chunks": dict(status.language_chunks),
        "chunk_types": dict(status.chunk_types),
        "index": {
            "path": json_path(str(status.place)),
            "bytes": status.bytes,
            "generation": status.generation,
            "segments": status.segments,
            "blobs": status.blobs_total,
            "trees": status.trees,
        },
        "last_updated": status.updated or None,
        "digest": status.digest or None,
        "model": status.model,
        "provider": {
            "name": status.provider,
            "data": status.provider_data,
            "made_the_index": not status.other_model,
        },
        "weights": {"state": status.tuning.state, **(status.tuning.weights._asdict() if status.tuning.weights else {})},
        "outdated": status.outdated,
        "problems": status.problems,
        "memory_problem": status.memory_problem,
    }
