"""Partial clones: asking for an object that was left out must not fetch it, nor end the process that was asked.

git dies of such a question once fetching is forbidden. A git directory that is empty but for a pointer to the same
objects knows of no remote that promised any, so that what is not there is simply missing; this holds for every git.
"""

import os
from pathlib import Path
from typing import Final

from gitmem.git.locate import Location

OBJECT_FOLDER: Final = "GIT_OBJECT_DIRECTORY"
SHA256_CONFIG: Final = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"


def is_partial(location: Location) -> bool:
    """Whether objects were left out at a clone or fetch; git marks the packs of such."""
    try:
        with os.scandir(location.common_dir / "objects" / "pack") as files:
            return any(file.name.endswith(".promisor") for file in files)
    except FileNotFoundError:
        return False


class ObjectSource:
    """The git directory to ask for objects by id: the repository's own, or a stand-in for a partial clone's."""

    def __init__(self, location: Location) -> None:
        self.git_dir = location.git_dir
        self.environment: dict[str, str] = {}
        self._stand_in: Path | None = None
        if is_partial(location):
            self._stand_in = self.git_dir = _make_stand_in(location)
            self.environment = {OBJECT_FOLDER: str(location.common_dir / "objects")}

    def close(self) -> None:
        """Remove the stand-in."""
        stand_in, self._stand_in = self._stand_in, None
        if stand_in is not None:
            import shutil

            shutil.rmtree(stand_in, ignore_errors=True)


def _make_stand_in(location: Location) -> Path:
    import tempfile  # slow to import, and partial clones are rare

    folder = Path(tempfile.mkdtemp(prefix="gitmem-"))
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "config").write_text(SHA256_CONFIG if location.object_format == "sha256" else "")
    return folder
