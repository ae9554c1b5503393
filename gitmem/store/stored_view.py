"""Files of views: a base with all entries of one tree, and for each tree the differences from a base.

A commit of ten files in a tree of 200,000 thus writes some kilobytes. Every view refers to one base, never to another
view with differences, so a query opens two files however many commits lie between.
"""

# Alternatives: a file for each folder, named by git's id of its tree, shares more between branches, but a query would
# open thousands of files. A chain of differences is a little smaller, but each query would apply all of them, and each
# file would have to outlive those that refer to it.

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import differences
from gitmem.errors import DamagedFile, NewerFormat, StorageFailed
from gitmem.fsio import write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.paths import BASE_SUFFIX
from gitmem.store.format import Buffer, Container, build_container, find_container
from gitmem.store.overlaid_view import EditedEntries, Edits, LocatedEdits, OverlaidView, locate_edits
from gitmem.store.path_postings import PATH_FIELDS
from gitmem.store.postings import Postings
from gitmem.store.section import damaged
from gitmem.store.view_file import MAGIC as BASE_MAGIC
from gitmem.store.view_file import View, ViewColumns, ViewEntry, find_file, view_contents, view_parts

MAGIC: Final = b"GITMEMVD"
MIN_EDITS: Final = 512
ENTRIES_PER_EDIT: Final = 100
"""A view differs from its base in at most so many entries; with more differences it becomes a base itself.

Writing differences and reading them takes time in proportion to their number; writing a base takes a second and 30 MB
at 200,000 paths. At ten files a commit that happens every 200 commits.
"""


class ViewFiles(NamedTuple):
    """Content of the file of a view, and its base; `base_parts` is the content of the base if that is new."""

    base: View
    base_parts: list[Buffer] | None
    parts: list[Buffer]


def write_view(
    path: Path,
    tree: str,
    entries: Sequence[ViewEntry] | ViewColumns,
    postings: Mapping[str, Postings] | None = None,
) -> None:
    """Publish a view with a base of its own; entries in path order. Raises: StorageFailed.

    `postings` is the result of `path_postings`, if already computed.
    """
    write_files(path, whole_view(path, tree, entries, postings))


def write_files(path: Path, files: ViewFiles) -> None:
    """Publish a view. Raises: StorageFailed."""
    # The base is durable before a view refers to it.
    if files.base_parts is not None:
        write_atomic(files.base.file, [memoryview(part) for part in files.base_parts])
    write_atomic(path, [memoryview(part) for part in files.parts])


def load_files(path: Path, files: ViewFiles) -> View:
    """Return the same view without writing it."""
    return _open(Container(path, MAGIC, b"".join(files.parts)), files.base)


def whole_view(
    path: Path,
    tree: str,
    entries: Sequence[ViewEntry] | ViewColumns,
    postings: Mapping[str, Postings] | None = None,
) -> ViewFiles:
    """Return the files of a view with a base of its own."""
    parts = view_parts(tree, entries, postings)
    base = View(Container(path.with_name(path.name + BASE_SUFFIX), BASE_MAGIC, b"".join(parts)))
    return ViewFiles(base, parts, _delta_parts(tree, base, locate_edits(base, {})))


def edited_view(path: Path, tree: str, old: View, edits: EditedEntries) -> ViewFiles:
    """Return the files of a view that differs from another one by some edits."""
    base, combined, places = _from_base(old, edits)
    if len(combined) <= max(MIN_EDITS, len(base) // ENTRIES_PER_EDIT) and base.file.suffix == BASE_SUFFIX:
        return ViewFiles(base, None, _delta_parts(tree, base, locate_edits(base, combined, places)))
    merged = OverlaidView.of(old, edits)
    return whole_view(path, tree, merged.columns(), {field: merged.load_postings(field) for field in PATH_FIELDS})


def _from_base(old: View, edits: EditedEntries) -> tuple[View, dict[bytes, ViewEntry | None], dict[bytes, int]]:
    """Return the base of a view, the edits that lead from there to the edited view, and the known places of some."""
    if not isinstance(old, OverlaidView):
        return old, dict(edits), {}
    base, (added, located, removed) = old.base, old.edits
    combined: dict[bytes, ViewEntry | None] = {base.path(place): None for place in removed.tolist()}
    places = dict(zip(combined, removed.tolist(), strict=True))
    combined |= {path: added.entry(number) for number, path in enumerate(added.paths)}
    places |= zip(added.paths, located.tolist(), strict=True)
    for path, entry in edits.items():
        place = base.find(path)
        if entry == (base.entry(place) if place is not None else None):
            combined.pop(path, None)  # as in the base again: views of a branch and its merged twin stay small
        else:
            combined[path] = entry
    return base, combined, places


def _delta_parts(tree: str, base: View, edits: LocatedEdits) -> list[Buffer]:
    fields, sections = view_contents(tree, edits.added)
    fields["base"] = base.file.stem
    sections["place"] = edits.places.astype("<u4").data
    sections["removed"] = edits.removed.astype("<u4").data
    return build_container(MAGIC, fields, sections)


def find_view(path: Path) -> View | None:
    """Open a view, or return None if its file is missing. Raises DamagedFile, also if its base is missing."""
    container = find_container(path, MAGIC)
    if container is None:
        return None
    name = _base_name(container)
    base = find_file(path.with_name(name + BASE_SUFFIX))
    if base is None:
        raise damaged(path, f"its base `{name}` is missing")
    return _open(container, base)


def _base_name(container: Container) -> str:
    name = container.fields.get("base")
    if not isinstance(name, str) or not re.fullmatch("[0-9A-Za-z]+", name):  # it cannot lead out of the folder
        raise damaged(container.path, "its base is not named by a hash")
    return name


def _open(container: Container, base: View) -> View:
    added = View(container)
    if "place" not in container or "removed" not in container:
        raise damaged(container.path, "a section is missing")
    places = container["place"].numbers("<u4").astype(np.int64)
    removed = container["removed"].numbers("<u4").astype(np.int64)
    if (
        len(places) != len(added)
        or (differences(places) < 0).any()
        or (differences(removed) <= 0).any()
        or (len(places) and places[-1] > len(base))
        or (len(removed) and removed[-1] >= len(base))
    ):
        raise damaged(container.path, "its differences do not match its base")
    if added.tree == base.tree and not len(added) and not len(removed):
        return base
    return OverlaidView(base, Edits(added, places, removed), added.tree)


def find_base_name(path: Path) -> str | None:
    """Return the name of the base of a view; None if the file of the view cannot be read."""
    with suppress(DamagedFile, NewerFormat, StorageFailed):
        container = find_container(path, MAGIC)
        if container is not None:
            return _base_name(container)
    return None
