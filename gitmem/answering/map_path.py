"""Find the files below a path of a tree, for an answer about a part of it."""

import posixpath
from typing import TYPE_CHECKING

from gitmem.errors import UsageError
from gitmem.git.path_encoding import path_bytes
from gitmem.named_tuple import NamedTuple

# numpy is loaded while `git status` runs.
if TYPE_CHECKING:
    import numpy as np

    from gitmem.answering.searcher import Searcher
    from gitmem.arrays import NDArray


class MappedPath(NamedTuple):
    """Path from the root of the tree, "" for all of it; the entries below; and the argument, if it is not a path."""

    path: str
    entries: "NDArray[np.int64]"
    word: str = ""


def resolve_path(searcher: "Searcher", path: str, folder: str, *, first: str = "") -> MappedPath:
    """Return the files of a path: a file or folder, relative to the root of the tree or else to `folder`.

    `first` is used without a path: if the tree lacks it and it has no slash, it is a word. Raises UsageError.
    """
    import numpy as np

    text = path or first
    entries = np.arange(searcher.files_in_tree)
    if not text:
        return MappedPath("", entries)
    names = searcher.view.paths[: searcher.files_in_tree]
    for candidate in _candidates(text, folder):
        if candidate == ".":
            return MappedPath("", entries)
        name = path_bytes(candidate)
        # A file named like a folder of another tree has no paths below it, so both can be looked for at once.
        below = [
            entry for entry, other in enumerate(names) if other.startswith(name) and other[len(name) :][:1] in b"/"
        ]
        if below:
            return MappedPath(candidate, np.array(below, np.int64))
    if not path and "/" not in text:
        return MappedPath("", entries, first)
    hint = "paths are relative to the root of the repository or to the current folder"
    raise UsageError(f"no such file or folder in this tree: `{text}`", hint=hint)


def _candidates(path: str, folder: str) -> list[str]:
    """Return the paths from the root that a path may mean. `.` and `..` belong to the current folder."""
    here = posixpath.normpath(posixpath.join(folder, path))
    is_relative = path.split("/")[0] in (".", "..")
    return [here] if is_relative else [posixpath.normpath(path), here]
