"""Read the blobs and the texts of hits."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gitmem.chunking.blob_text import text_of
from gitmem.freshness.tree_selection import WORKTREE, SelectedTree
from gitmem.git.batch import COMMITS, ProgramReader
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_bytes
from gitmem.git.working_files import read_unchanged
from gitmem.types import COMMIT, PROSE_KINDS

if TYPE_CHECKING:
    from gitmem.search.hits import Hit


def read_blobs(tree: SelectedTree, hits: "Sequence[Hit]", reader: ObjectReader) -> dict[str, bytes]:
    """Read each blob once, from the file that has its content if the working tree was searched, else from git.

    One that no longer exists is b"". Raises DamagedFile.
    """
    data = _read_files(tree, hits)
    blobs = dict.fromkeys(hit.blob for hit in hits if hit.chunk_type != COMMIT)
    data |= {oid: content or b"" for oid, content in reader.read_many(oid for oid in blobs if oid not in data)}
    commits = dict.fromkeys(hit.blob for hit in hits if hit.chunk_type == COMMIT)
    if commits:
        # The reader of a search reads blobs alone.
        with ProgramReader(tree.location, COMMITS) as objects:
            data |= {oid: content or b"" for oid, content in objects.read_many(commits)}
    return data


def _read_files(tree: SelectedTree, hits: "Sequence[Hit]") -> dict[str, bytes]:
    if tree.source != WORKTREE:
        return {}
    # Reading a file and comparing its hash is cheaper than asking git, and works before the first commit.
    paths = {hit.blob: path_bytes(hit.path) for hit in hits if hit.chunk_type not in PROSE_KINDS}
    return read_unchanged(tree.location, paths)


def texts_of(hits: "Sequence[Hit]", data: Mapping[str, bytes]) -> dict[tuple[str, str], bytes]:
    """Return the texts of hits by their `source`, given their blobs."""
    return {hit.source: text_of(data[hit.blob], hit.language) for hit in hits}
