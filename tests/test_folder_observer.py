"""Which changes of a folder are observed, and which are ignored."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.folder_observer import FolderObserver
from tests.gitrepo import unmeasured_environment

WAIT = 10.0
"""Timeout in seconds; events arrive at once."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / ".git/objects").mkdir(parents=True)
    (tmp_path / ".gitmem/state").mkdir(parents=True)
    (tmp_path / "src/a.py").write_text("a = 1\n")
    return tmp_path


def test_every_kind_of_change_is_observed(tree: Path) -> None:
    changes: dict[str, Callable[[], object]] = {
        "write": lambda: (tree / "src/a.py").write_text("a = 2\n"),
        "create deep below": lambda: (tree / "src/deep/b.py").write_text("b = 1\n"),
        "mode": lambda: (tree / "src/a.py").chmod(0o755),
        "move": lambda: (tree / "src/a.py").rename(tree / "src/c.py"),
        "delete": lambda: (tree / "src/c.py").unlink(),
        "new folder": lambda: (tree / "new/er").mkdir(parents=True),
        "file in the new folder": lambda: (tree / "new/er/d.py").write_text("d = 1\n"),
        "link": lambda: (tree / "link").symlink_to("new"),
    }
    with FolderObserver(tree) as observer:
        for name, change in changes.items():
            observer.changed.clear()
            change()
            assert observer.changed.wait(WAIT), name


def test_changes_inside_the_folders_of_git_and_gitmem_are_ignored(tree: Path) -> None:
    """Events arrive in order: after that of the last file, no earlier one can be pending."""
    observed: list[str] = []

    class RecordingObserver(FolderObserver):
        def _is_noise(self, path: str, is_content: bool) -> bool:
            noise = super()._is_noise(path, is_content)
            if not noise:
                observed.append(os.path.relpath(path, tree))
            return noise

    with RecordingObserver(tree) as observer:
        (tree / ".git/objects/pack").write_bytes(b"x")
        (tree / ".git/index.lock").write_bytes(b"x")
        (tree / ".git/index.lock").rename(tree / ".git/index")
        (tree / ".gitmem/state/log").write_bytes(b"x")
        (tree / "src/a.py").read_text()
        (tree / "end").write_text("")
        assert observer.changed.wait(WAIT)
        observer.changed.clear()
        (tree / "src" / ".git").mkdir()  # its creation makes `src` a repository
        assert observer.changed.wait(WAIT)
    assert set(observed) == {"end", "src/.git"}


def test_an_observer_leaves_no_thread_behind(tree: Path) -> None:
    script = (
        "import threading, pathlib, sys\n"
        "from gitmem.folder_observer import FolderObserver\n"
        "with FolderObserver(pathlib.Path(sys.argv[1])): pass\n"
        "assert [t.name for t in threading.enumerate()] == ['MainThread'], threading.enumerate()\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tree)], check=True, timeout=60)


def test_a_system_without_free_watches_is_a_clear_error(tree: Path) -> None:
    script = (
        "import pathlib, resource, sys\n"
        "from gitmem.errors import ObserverFailed\n"
        "from gitmem.folder_observer import FolderObserver\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "try:\n"
        "    FolderObserver(pathlib.Path(sys.argv[1])).__enter__()\n"
        "except ObserverFailed as problem:\n"
        "    print(problem.message, problem.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tree)], env=unmeasured_environment(), capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"cannot watch {os.path.realpath(tree)} for changes: ")
    assert "max_user_watches" in done.stdout
    assert done.stderr == ""
