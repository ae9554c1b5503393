"""Writer locks end with their holder, and without locks nothing is written."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.errors import Busy, StorageFailed
from gitmem.locks import writer_lock

HOLD = (
    "import sys; from pathlib import Path; from gitmem.locks import writer_lock\n"
    "with writer_lock(Path(sys.argv[1]), wait=False):\n    print('held', flush=True); sys.stdin.read()\n"
)


def test_a_lock_is_free_after_its_holder_was_killed(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Busy), writer_lock(lock, wait=False):
            pass
        holder.kill()
    with writer_lock(lock, wait=False):
        pass
    with writer_lock(lock, wait=True):
        pass


def test_a_lock_file_left_behind_does_not_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"{os.getpid()}\nlocalhost\n")
    with writer_lock(tmp_path / "lock", wait=False):
        pass


def test_a_lock_file_that_is_a_link_is_refused_and_its_target_untouched(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    victim.chmod(0o644)
    (tmp_path / "lock").symlink_to(victim)
    with pytest.raises(StorageFailed), writer_lock(tmp_path / "lock", wait=False):
        pass
    assert victim.read_bytes() == b"precious"
    assert stat.S_IMODE(victim.stat().st_mode) == 0o644


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP])
def test_a_file_system_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    for _ in range(2):  # the first attempt must not leave a file that looks like a lock to the second
        with pytest.raises(StorageFailed) as refusal, writer_lock(tmp_path / "lock", wait=False):
            pytest.fail("acquired a lock that would outlive its holder")
        assert "local disk" in refusal.value.hint
    monkeypatch.undo()
    with writer_lock(tmp_path / "lock", wait=False):
        pass


def test_on_wait_is_called_once_and_only_if_the_lock_is_held(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    calls: list[str] = []
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        def release() -> None:
            calls.append("waiting")
            holder.kill()

        with writer_lock(lock, wait=True, on_wait=release):
            pass
    with writer_lock(lock, wait=True, on_wait=release):
        pass
    assert calls == ["waiting"]


def test_a_child_that_inherits_the_descriptor_does_not_keep_the_lock(tmp_path: Path) -> None:
    with writer_lock(tmp_path / "lock", wait=False):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with writer_lock(tmp_path / "lock", wait=False):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_lock_file_that_is_removed_meanwhile_is_made_and_locked_again(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        def remove() -> None:
            lock.unlink()
            holder.kill()

        with writer_lock(lock, wait=True, on_wait=remove), pytest.raises(Busy), writer_lock(lock, wait=False):
            pass


def test_the_library_for_systems_without_these_locks_takes_the_same_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import filelock  # noqa: F401 (before the module that it needs here is hidden)

    lock = tmp_path / "lock"
    with writer_lock(lock, wait=False):
        monkeypatch.setitem(sys.modules, "fcntl", None)
        with pytest.raises(Busy), writer_lock(lock, wait=False):
            pass
    with writer_lock(lock, wait=False):
        monkeypatch.undo()
        with pytest.raises(Busy), writer_lock(lock, wait=False):
            pass
