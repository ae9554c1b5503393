"""Which git it is."""

import re

from gitmem.git.program import run_git


def read_version() -> tuple[int, int]:
    """The first two numbers of the version, (0, 0) where git tells none."""
    found = re.search(rb"(\d+)\.(\d+)", run_git(["version"]).stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)
