"""`gitmem index --history --background` returns at once, and a process of its own indexes the past."""

import subprocess
import time

from gitmem.locks import is_locked
from gitmem.paths import IndexPaths
from tests.gitrepo import Repo, isolated_environment
from tests.hooks.worlds import PATIENCE_SECONDS, PROGRAM


def test_the_past_is_indexed_by_a_process_that_outlives_its_caller(own: Repo) -> None:
    own.commit({"new.py": "def brand_new_thing():\n    return 2\n"})
    command = [*PROGRAM, "index", "--history", "--background", "--since", "2001-01-01"]
    done = subprocess.run(command, cwd=own.path, env=isolated_environment(), capture_output=True, check=True)
    assert b"versions of files in" in done.stdout
    assert b"it runs in the background" in done.stdout
    paths = IndexPaths(own.path / ".gitmem").past
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not paths.lifetimes.exists() or is_locked(paths.lock):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    query = [*PROGRAM, "query", "--history", "--json", "brand new thing"]
    found = subprocess.run(query, cwd=own.path, env=isolated_environment(), capture_output=True, check=True)
    assert b'"symbol": "brand_new_thing"' in found.stdout
