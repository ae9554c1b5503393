"""Verify an index: read every byte of it, and compare it with git. Changes nothing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gitmem.chunking.blob_text import MAX_GROWTH
from gitmem.display import count
from gitmem.errors import DamagedFile
from gitmem.git.locate import RepositoryLocation
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_text
from gitmem.indexing.fingerprint import view_key
from gitmem.indexing.mark_records import RecordReader
from gitmem.indexing.views import build_view
from gitmem.named_tuple import NamedTuple
from gitmem.paths import BASE_SUFFIX, IndexPaths
from gitmem.store.fitted_weights import find_tuning
from gitmem.store.graph import graph_files, is_intact
from gitmem.store.join_file import join_file, read_join
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.open_segments import OpenSegments
from gitmem.store.overlaid_view import OverlaidView
from gitmem.store.path_postings import PATH_FIELDS
from gitmem.store.segment import Segment, find_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_view
from gitmem.store.view_file import View, find_file, view_parts

_MAX_NAMED_PATHS = 5


class Fault(NamedTuple):
    """Something wrong with the index. `files`, relative to the index folder, must be rebuilt."""

    message: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Result of a check: counts of intact parts, faults, and `notes`, which need no repair."""

    segments: int = 0
    views: int = 0
    blobs: int = 0
    chunks: int = 0
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """Return the messages of all faults."""
        return [fault.message for fault in self.faults]

    @property
    def damaged(self) -> list[str]:
        """Return the files of all faults."""
        return [file for fault in self.faults for file in fault.files]


def check_index(location: RepositoryLocation, paths: IndexPaths, manifest: Manifest) -> Findings:
    """Check every segment, every view and the graph, then compare each indexed blob with git's object database."""
    checked = [_check_segment(paths, entry) for entry in manifest.segments]
    segments = [item for item in checked if isinstance(item, Segment)]
    views, faults = _check_views(paths)
    faults = [item for item in checked if isinstance(item, Fault)] + faults
    faults += _check_graph(paths, manifest) + _check_tuning(paths)
    missing_oids, blob_faults = _compare_blobs(location, segments)
    faults += blob_faults
    notes: list[str] = []
    # Only HEAD is compared with a view built from git: building one for every tree would take too long.
    if location.head_tree is not None:
        damaged = {file for fault in faults for file in fault.files}
        head_faults, notes = _check_head(location, paths, manifest, location.head_tree, views, missing_oids, damaged)
        faults += head_faults
    return Findings(
        segments=len(segments),
        views=len(views),
        blobs=sum(segment.blobs for segment in segments),
        chunks=sum(segment.rows for segment in segments),
        faults=faults,
        notes=notes,
    )


def check_segments(paths: IndexPaths, manifest: Manifest) -> list[Fault]:
    """Check every segment, and nothing else. The files of the faults are relative to the folder of this index."""
    checked = [_check_segment(paths, entry) for entry in manifest.segments]
    faults = [item for item in checked if isinstance(item, Fault)]
    return faults or _check_records([item for item in checked if isinstance(item, Segment) and item.is_compact])


def _check_records(segments: Sequence[Segment]) -> list[Fault]:
    """Check the records of all versions in intact segments of the past: one may differ from one in another segment."""
    reader = RecordReader(OpenSegments(segments))
    found = ((segment, reader.find_fault(segment)) for segment in segments)
    return [
        Fault(f"`{segment.path}` is damaged: {fault}", (f"segments/{segment.path.name}",))
        for segment, fault in found
        if fault
    ]


def _check_segment(paths: IndexPaths, entry: SegmentEntry) -> Segment | Fault:
    file = f"segments/{entry.name}"
    try:
        segment = find_segment(paths.segments, entry)
        if segment is None:
            return Fault(f"`{paths.segment(entry.name)}` is missing", (file,))
        segment.check()
        segment.check_structure()
    except DamagedFile as problem:
        return Fault(problem.message, (file,))
    return segment


def _check_views(paths: IndexPaths) -> tuple[dict[str, View], list[Fault]]:
    """Return the intact views by file name, and the faults of the others."""
    files = sorted(paths.views.glob("[!.]*"))
    faults = []
    damaged_bases = set()
    for file in files:
        fault = _check_base(file) if file.suffix == BASE_SUFFIX else None
        if fault is not None:
            faults.append(fault)
            damaged_bases |= {file} & {paths.root / name for name in fault.files}  # or only its join
    views: dict[str, View] = {}
    for file in files:
        if file.suffix:
            continue
        try:
            view = find_view(file)
            if isinstance(view, OverlaidView):
                view.edits.added.check()
        except DamagedFile as problem:
            faults.append(Fault(problem.message, (f"views/{file.name}",)))
            continue
        if view is not None and view.file in damaged_bases:
            faults.append(Fault(f"`{file}` refers to a damaged file", (f"views/{file.name}",)))
        elif view is not None:  # else it was removed meanwhile
            views[file.name] = view
    return views, faults


def _check_base(file: Path) -> Fault | None:
    """Check the base of views and its join with the segments."""
    name = file.name
    try:
        base = find_file(file)
        if base is not None:
            base.check()
            name = join_file(file).name
            read_join(join_file(file), len(base))
    except DamagedFile as problem:
        return Fault(problem.message, (f"views/{name}",))
    return None


def _check_graph(paths: IndexPaths, manifest: Manifest) -> list[Fault]:
    if not manifest.graph or is_intact(paths, manifest.graph):
        return []
    message = f"the graph `{paths.graph(manifest.graph)}` is damaged; searches are exact without it"
    return [Fault(message, tuple(f"graph/{name}" for name in sorted(graph_files(manifest.graph))))]


def _check_tuning(paths: IndexPaths) -> list[Fault]:
    try:
        find_tuning(paths.tuning)
    except DamagedFile as problem:
        return [Fault(problem.message, (f"{paths.tuning.parent.name}/{paths.tuning.name}",))]
    return []


def _compare_blobs(location: RepositoryLocation, segments: Sequence[Segment]) -> tuple[set[str], list[Fault]]:
    """Return the ids of indexed blobs that git lacks, and faults for blobs that are shorter than their rows.

    Only sizes are compared, because reading every blob again would take as long as indexing.
    """
    missing_oids: set[str] = set()
    faults = []
    with open_reader(location, bulk=False) as reader:
        for segment in segments:
            oids = [oid.tobytes().hex() for oid in segment.oids]
            for oid, size, end in zip(oids, reader.sizes(oids), _row_ends(segment), strict=True):
                if size is None:
                    missing_oids.add(oid)
                elif end > MAX_GROWTH * size:
                    message = f"`{segment.path}` has rows beyond the end of blob {oid}"
                    faults.append(Fault(message, (f"segments/{segment.path.name}",)))
                    break
    return missing_oids, faults


def _row_ends(segment: Segment) -> list[int]:
    """Return the end of the last row of each blob in bytes, 0 for a blob without rows."""
    ends = segment.column("start").astype(np.int64) + segment.column("length").astype(np.int64)
    bounds = zip(segment.first.tolist(), segment.first[1:].tolist(), strict=False)
    return [int(ends[first:last].max()) if last > first else 0 for first, last in bounds]


def _check_head(
    location: RepositoryLocation,
    paths: IndexPaths,
    manifest: Manifest,
    tree: str,
    views: Mapping[str, View],
    missing_oids: set[str],
    damaged: Collection[str],
) -> tuple[list[Fault], list[str]]:
    """Compare the view of HEAD with one built from git, and check that it is indexed if the manifest says so.

    Returns faults and notes.
    """
    key = view_key(tree, location.content)
    view = views.get(key)
    if view is None or view.tree != tree:
        is_known = f"views/{key}" in damaged
        return [], [] if is_known else ["HEAD has not been indexed yet; run `gitmem index`"]
    if not _is_view_of(view, location, tree):
        files = (f"views/{key}", f"views/{view.file.name}")
        return [Fault(f"`{paths.view(key)}` is not the view of {tree}", files)], []
    notes = _note_missing(view, missing_oids)
    # Rows missing from damaged files are restored together with the files.
    if damaged or key not in manifest.views:
        return [], notes
    snapshot = Snapshot(paths, manifest)
    if not snapshot.is_join_valid(view.base):
        message = f"`{join_file(view.file)}` does not match the paths and segments"
        return [Fault(message, (f"views/{join_file(view.file).name}",))], notes
    missing = np.flatnonzero(snapshot.match(view) == -1)
    if not len(missing):
        return [], notes
    path = path_text(view.path(int(missing[0])))
    message = f"{len(missing)} files of HEAD are not indexed although the manifest lists the tree, such as `{path}`"
    return [Fault(message, ("manifest",))], notes


def _is_view_of(view: View, location: RepositoryLocation, tree: str) -> bool:
    """Return whether a view equals the one that git's tree gives."""
    postings = {field: view.load_postings(field) for field in PATH_FIELDS}
    actual = view_parts(tree, view.columns(), postings)
    return b"".join(actual) == b"".join(view_parts(tree, build_view(location, tree)))


def _note_missing(view: View, missing_oids: set[str]) -> list[str]:
    """Describe indexed blobs that git lacks. They are normal, unless HEAD contains them."""
    if not missing_oids:
        return []
    paths = {oid.tobytes().hex(): path for oid, path in zip(view.oids, view.paths, strict=True)}
    in_head = sorted(missing_oids & paths.keys())[:_MAX_NAMED_PATHS]
    notes = [f"`{path_text(paths[oid])}`: git cannot read its blob {oid}" for oid in in_head]
    others = len(missing_oids - paths.keys())
    if others:
        notes.append(f"not in git: {count(others, 'indexed blob')}, uncommitted work or garbage for `gitmem gc`")
    return notes
