"""A socket has one owner: the next one follows when the owner exits or is killed, and nobody else's files are used."""

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.resident.socket_owner import OwnedSocket, own_socket

OWNER = """
import os, sys, time
from pathlib import Path
from gitmem.resident.socket_owner import own_socket
owned = own_socket(Path(sys.argv[1]))
if "fork" in sys.argv and os.fork() == 0:
    os.close(1)
    os.read(0, 1)
    os._exit(0)
print("owner" if owned else "none", flush=True)
os.read(0, 1)
owned and owned.close()
"""


@pytest.fixture
def place(runtime_folder: Path, tmp_path: Path) -> Path:
    """Return the path of a socket that no other test uses."""
    return runtime_folder / f"owner-{tmp_path.stat().st_ino}" / "1-2"


@contextmanager
def rival(place: Path, *options: str) -> Iterator["tuple[subprocess.Popen[str], str]"]:
    """Start a process that tries to own a socket; yield it and what it is: `owner` or `none`."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, os.fspath(place), *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.communicate("x")


def owned(place: Path) -> OwnedSocket:
    """Own a socket that must be free."""
    result = own_socket(place)
    assert result is not None
    return result


def answers(place: Path) -> bool:
    """Return whether somebody listens at a path."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(os.fspath(place)) == 0


def test_only_this_user_can_reach_the_socket(place: Path) -> None:
    previous = os.umask(0)
    try:
        with owned(place):
            assert stat.S_IMODE(place.lstat().st_mode) == 0o600
            assert stat.S_IMODE(place.parent.lstat().st_mode) == 0o700
            assert stat.S_IMODE(place.with_name("1-2.lock").lstat().st_mode) == 0o600
    finally:
        os.umask(previous)


def test_one_of_several_processes_owns_the_socket_and_the_next_follows(place: Path) -> None:
    with rival(place) as (_, first), rival(place) as (_, second):
        assert (first, second) == ("owner", "none")
        assert own_socket(place) is None
        assert answers(place)
    assert not place.exists()
    with owned(place):
        assert answers(place)


def test_the_next_owner_replaces_the_socket_of_a_killed_one(place: Path) -> None:
    with rival(place) as (process, _):
        process.kill()
        process.wait()
        assert place.exists()
        assert not answers(place)
        with owned(place):
            assert answers(place)


def test_a_child_that_outlives_its_killed_parent_does_not_keep_the_ownership(place: Path) -> None:
    with rival(place, "fork") as (process, state):
        assert state == "owner"
        process.send_signal(signal.SIGKILL)
        process.wait()
        with owned(place):
            assert answers(place)


def test_the_descriptors_are_not_inherited_by_programs(place: Path) -> None:
    with owned(place) as mine:
        assert not os.get_inheritable(mine.listening.fileno())
        with rival(place) as (_, state):
            assert state == "none"


@pytest.mark.parametrize("name", ["1-2", "1-2.lock"])
def test_an_owner_notices_that_its_files_were_removed_or_replaced(place: Path, name: str) -> None:
    with owned(place) as mine:
        assert mine.is_in_place()
        place.with_name(name).unlink()
        assert not mine.is_in_place()
        with rival(place) as (_, state):
            assert state == ("owner" if name.endswith("lock") else "none")
            if state == "owner":
                mine.close()
                assert answers(place), "the socket of the new owner is not removed"


def test_a_folder_that_others_can_enter_is_refused(place: Path) -> None:
    place.parent.mkdir(mode=0o755)
    with pytest.raises(PermissionError, match="not a private folder"):
        own_socket(place)


def test_a_link_to_a_folder_is_refused(place: Path, tmp_path: Path) -> None:
    place.parent.symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="not a private folder"):
        own_socket(place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(place: Path) -> None:
    place.parent.mkdir(mode=0o700)
    os.chown(place.parent, 65534, -1)
    with pytest.raises(PermissionError, match="not a private folder"):
        own_socket(place)


def test_a_link_in_place_of_the_lock_is_not_followed(place: Path, tmp_path: Path) -> None:
    place.parent.mkdir(mode=0o700)
    place.with_name("1-2.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic links"):
        own_socket(place)
    assert not (tmp_path / "victim").exists()


def test_a_folder_that_cannot_be_created_is_an_error(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        own_socket(place.parent / "missing" / "1-2")
