"""The state of the index: what it holds for the working tree, and whether it is complete. Reads only."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.answering.weights_in_force import DEFAULT, TuningState, read_tuning
from gitmem.arrays import differences, distinct
from gitmem.embedding.provider import selected_provider
from gitmem.errors import DamagedFile
from gitmem.freshness.cancellation import RunProgress, is_stopping, read_progress, read_run
from gitmem.freshness.index_runs import last_run_time
from gitmem.freshness.tree_selection import WORKING_TREE, TreeReader
from gitmem.freshness.tree_view import open_tree
from gitmem.git.locate import describe_head
from gitmem.indexing.fingerprint import (
    current_fingerprint,
    differs_in_model_only,
    dimensions_of,
    is_made_with,
    model_of,
    view_key,
    with_dimensions,
)
from gitmem.indexing.index_writer import find_unfinished
from gitmem.indexing.tree_digest import find_last_digest
from gitmem.install.registered_files import users_entries
from gitmem.locks import is_locked
from gitmem.memory.last_tip import find_lost_records
from gitmem.settings import Settings
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import INDEXED, REASONS, View
from gitmem.types import CHUNK_TYPES
from gitmem.workspace import Workspace, find_index, open_snapshot

NO_INDEX: Final = "No Index"
NEEDS_UPDATE: Final = "Needs Update"
UP_TO_DATE: Final = "Up to Date"
UPDATING: Final = "Updating"
CANCELLING: Final = "Cancelling"

_DELETED: Final = "deleted"
"""Change of a path that the working tree lacks."""


@dataclass(slots=True)
class Status:
    """State of an index. `files`, `chunks`, `languages`, `language_chunks` and `chunk_types` count the working
    tree.

    `uncommitted` counts the paths that differ from HEAD by kind of change; `unknown` is the reason if git could not
    report them. `updated` is the time of the last run that changed the index. `pending` of the `not_indexed` files are
    uncommitted: the next query indexes them. An index is `partial` until its first run has completed. `unfinished`
    blobs are done of an interrupted full run. `writing` says whether another process writes the index now, and `run`
    is the command that does, "" for another change; `progress` is how far it is, None before its first batch.
    `digest` is that of HEAD's index, "" if it was not computed since HEAD moved.
    `provider` is the selected one, `provider_data` what leaves the machine, and `other_model` says whether the index
    was made with another model. `outdated` is the reason if the next run builds the index again anyway, else "".
    """

    state: str
    head: str
    commit: str | None
    tree: str | None
    place: Path
    problems: list[str] = field(default_factory=list)
    memory_problem: str = ""
    uncommitted: Counter[str] = field(default_factory=Counter)
    unknown: str = ""
    partial: bool = False
    unfinished: int = 0
    writing: bool = False
    run: str = ""
    progress: RunProgress | None = None
    files: int = 0
    indexed: int = 0
    not_indexed: int = 0
    pending: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    language_chunks: Counter[str] = field(default_factory=Counter)
    chunk_types: Counter[str] = field(default_factory=Counter)
    chunks: int = 0
    chunks_total: int = 0
    blobs_total: int = 0
    generation: int = 0
    segments: int = 0
    trees: int = 0
    bytes: int = 0
    model: str = ""
    provider: str = ""
    provider_data: str = ""
    other_model: bool = False
    outdated: str = ""
    digest: str = ""
    updated: str = ""
    tuning: TuningState = field(default_factory=lambda: TuningState(DEFAULT))


def _unused_keys(settings: Settings) -> str:
    """Return the end of a sentence that names keys that are set and not used, "" without one."""
    keys = {"gitmem.openaiKey": settings.openai_key, "gitmem.providerKey": settings.provider_key}
    return "".join(
        f"; `{name}` is set and not used (git config --global gitmem.provider selects a provider)"
        for name, key in keys.items()
        if key
    )


def read_status(workspace: Workspace) -> Status:
    """Return the state of the index. Raises UnsafeIndex, NewerFormat."""
    location = workspace.location
    status = Status(NO_INDEX, describe_head(location), location.head_commit, location.head_tree, workspace.paths.root)
    provider = selected_provider(workspace.settings)
    status.provider, status.provider_data = provider.name, provider.data_notice
    if provider.is_bundled:
        status.provider_data += _unused_keys(workspace.settings)
    lost = find_lost_records(location)
    status.memory_problem = f"{lost.problem}; run `{lost.remedy}`" if lost else ""
    try:
        manifest = find_index(workspace)
    except DamagedFile as problem:
        manifest = None
        status.state = NEEDS_UPDATE
        status.problems.append(problem.message)
    if manifest is not None:
        _fill(status, workspace, manifest)
    _recognise_run(status, workspace)
    return status


def _recognise_run(status: Status, workspace: Workspace) -> None:
    """Note a process that writes the index now."""
    indexes = (workspace.paths, workspace.paths.history, workspace.paths.past)
    paths = next((paths for paths in indexes if is_locked(paths.lock)), None)
    if paths is None:
        return
    status.writing = True
    run = read_run(paths)
    status.run = run.resume if run else ""
    status.progress = read_progress(paths, run) if run else None
    # The state is that of the tree: while the past is indexed, it may be up to date.
    if paths is workspace.paths:
        status.state = CANCELLING if run and is_stopping(paths, run) else UPDATING


def _fill(status: Status, workspace: Workspace, manifest: Manifest) -> None:
    status.generation, status.segments, status.trees = manifest.generation, len(manifest.segments), len(manifest.views)
    status.chunks_total, status.blobs_total = manifest.rows, manifest.blobs
    status.bytes = folder_bytes(workspace.paths.root)
    status.model = model_of(manifest.fingerprint)
    key = view_key(status.tree, workspace.location.content) if status.tree else ""
    digest = find_last_digest(workspace.paths, key, manifest.fingerprint) if key in manifest.views else None
    status.digest = digest.digest if digest else ""
    status.updated = last_run_time(workspace.paths)
    status.tuning = read_tuning(workspace)
    current = is_made_with(manifest.fingerprint, workspace.settings)
    selected = with_dimensions(current_fingerprint(workspace.settings), dimensions_of(manifest.fingerprint))
    status.other_model = not current and differs_in_model_only(manifest.fingerprint, selected)
    if not current and not status.other_model:
        status.outdated = "made with another model, chunker, size of chunks or limit of file sizes"
    _count_tree(status, workspace, manifest)
    status.partial = not manifest.complete
    unfinished = find_unfinished(workspace.paths)
    status.unfinished = unfinished.blobs if unfinished and not unfinished.complete else 0
    complete = current and not status.partial and not status.problems and not status.not_indexed
    status.state = UP_TO_DATE if complete else NEEDS_UPDATE


def _count_tree(status: Status, workspace: Workspace, manifest: Manifest) -> None:
    """Count the files: indexed by language, skipped by reason, not indexed yet."""
    if workspace.location.worktree is None and workspace.location.head_tree is None:
        return
    # Opened while `git status` runs, as in a query.
    with TreeReader(workspace.location, WORKING_TREE) as reader:
        snapshot = open_snapshot(workspace, manifest)
        tree = reader.read()
    status.problems += snapshot.lost
    if not tree.location.plain:
        entries = users_entries(tree.location, tree.entries)
        # Git knows no mode of a path that does not exist.
        status.uncommitted.update(_DELETED if entry.mode is None else entry.change for entry in entries)
    status.unknown = tree.problem
    overlay = open_tree(workspace._replace(location=tree.location), tree, manifest, write=False)
    try:
        missing = _count(status, overlay.view, snapshot)
    except DamagedFile as problem:
        status.problems.append(problem.message)
        return
    # Files that could not be hashed in time have no blob id yet, but they are uncommitted for certain.
    status.pending = overlay.unhashed + sum(overlay.view.path(entry) in overlay.changes for entry in missing)
    status.not_indexed += overlay.unhashed


def _count(status: Status, view: View, snapshot: Snapshot) -> list[int]:
    """Count the files and chunks of a view; return its entries that are not indexed yet."""
    matches = snapshot.match(view)
    indexed = matches[matches >= 0]
    status.files = len(view)
    missing: list[int] = np.flatnonzero(matches == -1).tolist()
    status.not_indexed = len(missing)
    _add(status.skipped, np.bincount(view.reasons[view.reasons != INDEXED]), REASONS.__getitem__)
    outcomes = snapshot.blob_outcomes[indexed]
    texts = outcomes < _FIRST_SKIPPED
    status.indexed = int(texts.sum())
    _add(status.skipped, np.bincount(outcomes[~texts]), OUTCOMES.__getitem__)
    for segment, base in zip(snapshot.segments, snapshot.blob_bases, strict=False):
        # Language codes are numbered per segment, so the counts are made per segment.
        own = indexed[texts & (indexed >= base) & (indexed < base + segment.blobs)] - base
        _add(status.languages, np.bincount(segment.blob_languages[own]), segment.languages.__getitem__)
        # Copies of a file share their chunks, which count once.
        blobs = distinct(own)
        chunks = np.bincount(segment.blob_languages[blobs], differences(segment.first)[blobs]).astype(np.int64)
        _add(status.language_chunks, chunks, segment.languages.__getitem__)
    sizes = differences(snapshot.blob_first)
    # The chunks of a blob that several paths share exist once, so they count once, as in `chunks_total`.
    in_view = np.zeros(len(sizes), bool)
    in_view[indexed] = True
    status.chunks = int(sizes[in_view].sum())
    _add(
        status.chunk_types,
        np.bincount(snapshot.column("kind")[np.repeat(in_view, sizes)].astype(np.uint8)),
        CHUNK_TYPES.__getitem__,
    )
    return missing


_FIRST_SKIPPED: Final = 2
"""First of the outcomes that leave a blob without chunks (`empty`, `binary`, ...)."""


def _add(counts: Counter[str], numbers: object, name: Callable[[int], str]) -> None:
    for code, number in enumerate(numbers.tolist()):  # type: ignore[attr-defined]
        if number:
            counts[name(code)] += number


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder. Links are not followed; files that vanish are not counted."""
    total = 0
    for path in folder.rglob("*"):
        try:
            # lstat: a link to a file elsewhere must not count as the size of the index.
            total += path.lstat().st_size if not path.is_dir() else 0
        except OSError:
            continue
    return total
