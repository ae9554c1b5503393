"""The command line with the fake model and small steps, for harnesses that watch a process from outside.

usage: python -m tests.faults.driver [--naive] ARGUMENTS OF GITMEM
       python -m tests.faults.driver [--naive] -C FOLDER compact

With `--naive` files are written in place, as a program would that thinks of no crash: the control.
"""

import os
import sys
from pathlib import Path

from gitmem import fsio
from gitmem.cli.main import main
from gitmem.freshness.compaction import compact_in_background
from tests.faults.oracle import small_steps
from tests.faults.worlds import COMPACT
from tests.gitrepo import Repo
from tests.indexes import workspace_of


class InPlace(fsio.Disk):
    """Writes over what is there, and renames only what was written before its name was known."""

    def create(self, path: Path, mode: int) -> int:
        return os.open(published_name(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)

    def rename(self, source: Path, target: Path) -> None:
        written = published_name(source) if source.name.endswith(".tmp") else source
        if written != target:
            super().rename(written, target)


def published_name(path: Path) -> Path:
    """The name under which a file written beside it will be published."""
    return path.with_name(path.name.removeprefix(".").rsplit(".", 2)[0])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--naive"]:
        del sys.argv[1]
        fsio.disk = InPlace()
    with small_steps(grace=0.0):
        if sys.argv[-1] == COMPACT:
            compact_in_background(workspace_of(Repo(Path(sys.argv[sys.argv.index("-C") + 1]))))
        else:
            main()
