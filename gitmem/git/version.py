"""Version of the installed git."""

import re

from gitmem.git.program import run_git


def read_version() -> tuple[int, int]:
    """Return the first two numbers of the version, (0, 0) if git prints none."""
    version = re.search(rb"(\d+)\.(\d+)", run_git(["version"]).stdout)
    return (int(version[1]), int(version[2])) if version else (0, 0)
