"""Partial clones: a request for an omitted object must neither fetch it nor end the git process.

git dies on such a request if fetching is forbidden. So objects are requested through a substitute git directory, which
is empty except for a reference to the same objects. It has no promisor remote, so that omitted objects are simply
missing; this works with every version of git.
"""

import os
from pathlib import Path
from typing import Final

from gitmem.git.locate import RepositoryLocation

OBJECT_FOLDER: Final = "GIT_OBJECT_DIRECTORY"
SHA256_CONFIG: Final = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"


def is_partial(location: RepositoryLocation) -> bool:
    """Return whether a clone or fetch omitted objects; git marks its packs with `.promisor` files."""
    try:
        with os.scandir(location.common_dir / "objects" / "pack") as files:
            return any(file.name.endswith(".promisor") for file in files)
    except FileNotFoundError:
        return False


class ObjectSource:
    """Git directory for requests of objects by id: the repository's own, or a substitute for a partial clone's."""

    def __init__(self, location: RepositoryLocation) -> None:
        self.git_dir = location.git_dir
        self.environment: dict[str, str] = {}
        self._substitute: Path | None = None
        if is_partial(location):
            self._substitute = self.git_dir = _make_substitute(location)
            self.environment = {OBJECT_FOLDER: str(location.common_dir / "objects")}

    def close(self) -> None:
        """Remove the substitute."""
        substitute, self._substitute = self._substitute, None
        if substitute is not None:
            import shutil  # slow to import, and partial clones are rare

            shutil.rmtree(substitute, ignore_errors=True)


def _make_substitute(location: RepositoryLocation) -> Path:
    import tempfile  # slow to import, and partial clones are rare

    folder = Path(tempfile.mkdtemp(prefix="gitmem-"))
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "config").write_text(SHA256_CONFIG if location.object_format == "sha256" else "")
    return folder
