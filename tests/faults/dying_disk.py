"""A disk that fails at one of its changes, in the place of `fsio.disk`."""

import errno
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from gitmem import fsio
from gitmem.errors import GitmemError
from gitmem.fsio import Disk
from tests.faults.driver import InPlace
from tests.gitrepo import Repo

CHANGES: Final = ("create", "write", "set_mode", "sync", "rename", "link", "unlink", "make_folder", "remove_folder")


class Killed(BaseException):
    """A kill; like SIGKILL, nothing catches it."""


DISK_FULL: Final = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class DyingDisk(Disk):
    """Fails instead of making its n-th change; after a kill it makes no further one."""

    def __init__(self, at: int, error: BaseException | None = None) -> None:
        self.left = at
        self.error = error or Killed()

    def append(self, path: Path, data: bytes) -> int:
        """Fail on a dead disk. It is no change that counts: commands ignore the failure of a log."""
        if self.left == 0:
            raise self.error
        return super().append(path, data)

    def __getattribute__(self, name: str) -> Any:
        if name in CHANGES:
            if self.left == 0:
                raise self.error
            self.left -= 1
        return object.__getattribute__(self, name)


class DyingInPlace(DyingDisk, InPlace):
    """Control: a disk that dies, under a writer that writes over what is there."""


def kill_each(
    world: Repo, act: Callable[[Repo], object], look_after: Callable[[Repo], Iterable[str]], disk: type[DyingDisk], *,
    step: int,
) -> tuple[int, list[str]]:  # fmt: skip
    """Kill an action at every `step`-th change of the disk, each time in a new copy of a repository.

    Return the kills, and what was wrong after the last one: it ends at the first fault.
    """
    kills, bad = 0, list[str]()
    repo = Repo(world.path.with_name("copy"))
    while not bad:
        shutil.rmtree(repo.path, ignore_errors=True)
        shutil.copytree(world.path, repo.path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fsio, "disk", disk(kills * step))
            try:
                act(repo)
            except Killed:
                kills += 1
            else:
                break
        try:
            bad += look_after(repo)
        except GitmemError as problem:
            bad.append(problem.message)
    return kills, bad
