"""What the index holds for HEAD, and whether that is all of it. Reads only; builds nothing on disk."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.actions.tuning import DEFAULT, TuningState, read_tuning
from gitmem.errors import DamagedFile
from gitmem.git.locate import describe_head
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, find_index, open_snapshot

if TYPE_CHECKING:
    from gitmem.store.snapshot import Snapshot
    from gitmem.store.view import View

NO_INDEX: Final = "No Index"
NEEDS_UPDATE: Final = "Needs Update"
UP_TO_DATE: Final = "Up to Date"


@dataclass(slots=True)
class Status:
    """State of an index. `files` are those of HEAD; `chunks`, `languages` (files) and `kinds` (chunks) likewise."""

    state: str
    head: str
    commit: str | None
    tree: str | None
    place: Path
    problems: list[str] = field(default_factory=list)
    files: int = 0
    indexed: int = 0
    not_indexed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    chunks: int = 0
    chunks_total: int = 0
    blobs_total: int = 0
    generation: int = 0
    segments: int = 0
    trees: int = 0
    bytes: int = 0
    model: str = ""
    tuning: TuningState = field(default_factory=lambda: TuningState(DEFAULT))


def read_status(workspace: Workspace) -> Status:
    """Look at the index. Raises UnsafeIndex, NewerFormat."""
    location = workspace.location
    status = Status(NO_INDEX, describe_head(location), location.head_commit, location.head_tree, workspace.paths.root)
    try:
        manifest = find_index(workspace)
    except DamagedFile as problem:
        status.state = NEEDS_UPDATE
        status.problems.append(problem.message)
        return status
    if manifest is None:
        return status
    _fill(status, workspace, manifest)
    return status


def _fill(status: Status, workspace: Workspace, manifest: Manifest) -> None:
    from gitmem.indexing.identity import current_fingerprint

    status.generation, status.segments, status.trees = manifest.generation, len(manifest.segments), len(manifest.views)
    status.chunks_total, status.blobs_total = manifest.rows, manifest.blobs
    status.bytes = folder_bytes(workspace.paths.root)
    status.model = manifest.fingerprint.split(".", 3)[-1]
    status.tuning = read_tuning(workspace)
    current = manifest.fingerprint == current_fingerprint(workspace.settings.max_file_bytes)
    if not current:
        status.problems.append("made with another model, chunker or file size limit; the next run builds it anew")
    if workspace.location.head_tree is not None:
        _count_tree(status, workspace, manifest, workspace.location.head_tree)
    complete = current and not status.problems and not status.not_indexed
    status.state = UP_TO_DATE if complete else NEEDS_UPDATE


def _count_tree(status: Status, workspace: Workspace, manifest: Manifest, tree: str) -> None:
    """Share HEAD's files out: indexed in a language, skipped for a reason, not indexed yet."""
    from gitmem.indexing.views import peek_view

    snapshot = open_snapshot(workspace, manifest)
    status.problems += snapshot.lost
    view = peek_view(workspace.location, workspace.paths, tree)
    try:
        _count(status, view, snapshot)
    except DamagedFile as problem:
        status.problems.append(problem.message)


def _count(status: Status, view: "View", snapshot: "Snapshot") -> None:
    import numpy as np

    from gitmem.store.columns import OUTCOMES
    from gitmem.store.view import INDEXED, REASONS
    from gitmem.types import KINDS

    found = snapshot.match(view)
    known = found[found >= 0]
    status.files = len(view)
    status.not_indexed = int((found == -1).sum())
    _add(status.skipped, np.bincount(view.reasons[view.reasons != INDEXED]), REASONS.__getitem__)
    outcomes = snapshot.blob_outcomes[known]
    texts = outcomes < _FIRST_SKIPPED
    status.indexed = int(texts.sum())
    _add(status.skipped, np.bincount(outcomes[~texts]), OUTCOMES.__getitem__)
    for segment, base in zip(snapshot.segments, snapshot.blob_bases, strict=False):
        own = known[texts & (known >= base) & (known < base + segment.blobs)] - base
        _add(status.languages, np.bincount(segment.blob_languages[own]), segment.languages.__getitem__)
    blobs = np.unique(known, return_index=True)[0]
    sizes = np.diff(snapshot.blob_first)
    status.chunks = int(sizes[known].sum())
    inside = np.zeros(len(sizes), bool)
    inside[blobs] = True
    _add(
        status.kinds, np.bincount(snapshot.column("kind")[np.repeat(inside, sizes)].astype(np.uint8)), KINDS.__getitem__
    )


_FIRST_SKIPPED: Final = 2
"""Outcomes from here on (`empty`, `binary`, ...) left a blob without chunks."""


def _add(counts: Counter[str], numbers: object, name: Callable[[int], str]) -> None:
    for code, number in enumerate(numbers.tolist()):  # type: ignore[attr-defined]
        if number:
            counts[name(code)] += number


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder; links are not followed, files that vanish meanwhile not counted."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if not path.is_dir() else 0
        except OSError:
            continue
    return total
