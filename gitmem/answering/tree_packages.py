"""Read the packages that a tree provides to other repositories from its manifests and the paths of its files."""

from itertools import islice
from typing import TYPE_CHECKING, Final

from gitmem.answering.source_lines import read_source_lines
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text

# The search is loaded while `git status` runs.
if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher
    from gitmem.references.provided_packages import TreePackages

_MAX_MANIFESTS: Final = 500
"""Manifests that are read in one tree. A larger monorepo has those nearest to its root."""


def read_packages(searcher: "Searcher", blobs: ObjectReader) -> "TreePackages":
    """Return the packages of an open tree, and keep them there for the next call.

    An open tree never changes, so a server reads them once for each. Files of tests, and vendored ones, provide no
    package that others import.
    """
    from gitmem.references.provided_packages import MANIFESTS, SOURCES, ProvidedPackages, TreePackages
    from gitmem.search.path_roles import path_role

    paths: list[str] = []
    manifests: dict[int, str] = {}
    for entry, raw in enumerate(islice(searcher.view.paths, searcher.files_in_tree)):
        path = path_text(raw)
        file = path.rpartition("/")[2]
        if file in MANIFESTS and path_role(path) != "auxiliary":
            manifests[entry] = path
        elif file.endswith(SOURCES) and path_role(path) not in ("test", "auxiliary"):
            paths.append(path)
    nearest = sorted(manifests, key=lambda entry: manifests[entry].count("/"))[:_MAX_MANIFESTS]
    texts, changed = read_source_lines(searcher, nearest, blobs, mask=False)
    read = {manifests[entry]: b"\n".join(lines).decode("utf-8", "replace") for entry, lines in texts.items()}
    packages = TreePackages(ProvidedPackages(paths, read), len(manifests) - len(nearest))
    # A manifest that was written meanwhile was not read, and the next call may have another tree.
    if not changed:
        searcher.packages = packages
    return packages
