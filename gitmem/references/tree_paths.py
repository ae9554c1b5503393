"""What rules about modules ask about the paths of a tree."""

from collections.abc import Sequence
from typing import Protocol


class TreePaths(Protocol):
    """Paths of a tree, and the packages that its manifests define."""

    def has_path(self, path: str) -> bool:
        """Return whether the tree has a file at a path."""

    def package_folders(self, name: str, manifest: str) -> Sequence[str]:
        """Return the folders of the manifests, files of that name, that define a package; "" is the root."""
