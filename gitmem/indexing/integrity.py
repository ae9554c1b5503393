"""Reading an index to the last byte, and comparing it with git. Changes nothing."""

from dataclasses import dataclass, field

import numpy as np

from gitmem.errors import DamagedFile
from gitmem.git.locate import Location
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_text
from gitmem.indexing.fingerprint import view_key
from gitmem.indexing.views import build_view
from gitmem.paths import IndexPaths
from gitmem.store.fitted_weights import find_tuning
from gitmem.store.graph import graph_files, is_intact
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment import Segment, find_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View, find_view, view_parts

_SHOWN = 5


@dataclass(slots=True)
class Findings:
    """What was looked at and what is wrong. `damaged` are file names below the index folder, `notes` no faults."""

    segments: int = 0
    views: int = 0
    blobs: int = 0
    chunks: int = 0
    problems: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def blame(self, file: str, problem: str) -> None:
        """Note a file that must be made anew."""
        self.problems.append(problem)
        self.damaged.append(file)


def check_index(location: Location, paths: IndexPaths, manifest: Manifest) -> Findings:
    """Check every segment, every view and the graph, then each indexed blob against git's object database."""
    found = Findings()
    segments = [segment for entry in manifest.segments if (segment := _check_segment(paths, entry, found))]
    views = _check_views(paths, found)
    _check_graph(paths, manifest, found)
    _check_tuning(paths, found)
    gone = _compare_blobs(location, segments, found)
    if location.head_tree is not None:
        _check_head(location, paths, manifest, location.head_tree, views, gone, found)
    return found


def _check_segment(paths: IndexPaths, entry: SegmentEntry, found: Findings) -> Segment | None:
    name = entry.name
    try:
        segment = find_segment(paths.segments, entry)
        if segment is None:
            found.blame(f"segments/{name}", f"`{paths.segment(name)}` is missing")
            return None
        segment.check()
        segment.load_rows()
    except DamagedFile as problem:
        found.blame(f"segments/{name}", problem.message)
        return None
    found.segments += 1
    found.blobs += segment.blobs
    found.chunks += segment.rows
    return segment


def _check_views(paths: IndexPaths, found: Findings) -> dict[str, View]:
    views = {}
    for file in sorted(paths.views.iterdir()) if paths.views.is_dir() else []:
        if file.name.startswith("."):
            continue
        try:
            view = find_view(file)
            if view is None:
                continue
            view.check()
        except DamagedFile as problem:
            found.blame(f"views/{file.name}", problem.message)
            continue
        found.views += 1
        if view_key(view.tree) == file.name:
            views[view.tree] = view
    return views


def _check_graph(paths: IndexPaths, manifest: Manifest, found: Findings) -> None:
    if manifest.graph and not is_intact(paths, manifest.graph):
        found.problems.append(f"the graph `{paths.graph(manifest.graph)}` is damaged; searches are exact without it")
        found.damaged += [f"graph/{name}" for name in sorted(graph_files(manifest.graph))]


def _check_tuning(paths: IndexPaths, found: Findings) -> None:
    try:
        find_tuning(paths.tuning)
    except DamagedFile as problem:
        found.blame(f"{paths.tuning.parent.name}/{paths.tuning.name}", problem.message)


def _compare_blobs(location: Location, segments: list[Segment], found: Findings) -> set[str]:
    """Ids of indexed blobs that git lacks; a blob smaller than its rows say is a problem."""
    gone: set[str] = set()
    with open_reader(location, bulk=False) as reader:
        for segment in segments:
            oids = [oid.tobytes().hex() for oid in segment.oids]
            ends = _row_ends(segment)
            for oid, size, end in zip(oids, reader.sizes(oids), ends, strict=True):
                if size is None:
                    gone.add(oid)
                elif end > size:
                    name = segment.path.name
                    found.blame(f"segments/{name}", f"`{segment.path}` has rows beyond the end of blob {oid}")
                    break
    return gone


def _row_ends(segment: Segment) -> list[int]:
    """Where the last row of each blob ends, 0 for a blob without rows."""
    ends = segment.column("start").astype(np.int64) + segment.column("length").astype(np.int64)
    bounds = zip(segment.first.tolist(), segment.first[1:].tolist(), strict=False)
    return [int(ends[first:last].max()) if last > first else 0 for first, last in bounds]


def _check_head(
    location: Location,
    paths: IndexPaths,
    manifest: Manifest,
    tree: str,
    views: dict[str, View],
    gone: set[str],
    found: Findings,
) -> None:
    """The view of HEAD must be the one built anew, and wholly indexed where the manifest says so."""
    key = view_key(tree)
    view = views.get(tree)
    if view is None:
        if f"views/{key}" not in found.damaged:
            found.notes.append("HEAD has not been indexed yet; run `gitmem index`")
        return
    if paths.view(key).read_bytes() != b"".join(view_parts(tree, build_view(location, tree))):
        found.blame(f"views/{key}", f"`{paths.view(key)}` is not the view of {tree}")
        return
    _note_gone(view, gone, found)
    if found.damaged or key not in manifest.views:
        return  # what is damaged is made anew, and what is missing with it
    missing = np.flatnonzero(Snapshot(paths, manifest).match(view) == -1)
    if len(missing):
        path = path_text(view.paths[int(missing[0])])
        found.blame("manifest", f"{len(missing)} files of HEAD are not indexed though they should be, such as `{path}`")


def _note_gone(view: View, gone: set[str], found: Findings) -> None:
    """Blobs that git dropped are normal, unless HEAD holds them."""
    held = {view.oid(entry): path_text(view.paths[entry]) for entry in range(len(view))}
    for oid in sorted(gone & held.keys())[:_SHOWN]:
        found.notes.append(f"`{held[oid]}`: git cannot read its blob {oid}")
    rest = len(gone - held.keys())
    if rest:
        found.notes.append(f"{rest} indexed blobs are not in git: uncommitted work, or what `gitmem gc` will drop")
