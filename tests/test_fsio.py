"""Files are published atomically, and links are not followed."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from gitmem.errors import StorageFailed, UnsafeIndex
from gitmem.fsio import (
    link_or_copy,
    make_folder,
    read_file,
    remove_file,
    remove_tree,
    require_own_folder,
    write_atomic,
    write_once,
)
from gitmem.leftover_files import sweep_leftovers
from gitmem.locks import writer_lock
from gitmem.maps import map_file


def test_readers_never_see_a_partial_file(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_atomic(target, [b"a" * 100_000])
    contents: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            contents.add(read_file(target) or b"")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(150):
        write_atomic(target, [bytes([97 + number % 26]) * 50_000, memoryview(bytes([97 + number % 26]) * 50_000)])
    done.set()
    for reader in readers:
        reader.join()
    assert contents
    assert all(len(content) == 100_000 and len(set(content)) == 1 for content in contents)
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


def test_a_map_stays_valid_when_its_file_is_replaced_or_removed(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_atomic(target, [b"old" * 5000])
    mapped = map_file(target)
    assert mapped is not None
    write_atomic(target, [b"new"])
    remove_file(target)
    assert mapped[:] == b"old" * 5000


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    target = tmp_path / "index" / "file"
    make_folder(target.parent)
    write_atomic(target, [b"old"])

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        if call == "replace":
            patch.setattr(Path, "replace", fail)
        else:
            patch.setattr(os, call, fail)
        with pytest.raises(StorageFailed, match=os.strerror(number)):
            write_atomic(target, [b"new"])
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data[:7])))
    write_atomic(tmp_path / "file", [b"0123456789" * 20, b"", b"end"])
    assert (tmp_path / "file").read_bytes() == b"0123456789" * 20 + b"end"


def test_writing_to_a_missing_folder_or_a_folder_over_a_file_fails(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="No such file"):
        write_atomic(tmp_path / "missing" / "file", [b"x"])
    (tmp_path / "file").touch()
    with pytest.raises(StorageFailed):
        make_folder(tmp_path / "file")


def test_leftovers_of_dead_writers_do_not_matter_and_are_swept(tmp_path: Path) -> None:
    for number in range(os.getpid() - 2, os.getpid() + 3):
        (tmp_path / f".file.{number}.tmp").write_bytes(b"half")
    write_atomic(tmp_path / "file", [b"whole"])
    (tmp_path / "other.tmp").touch()
    assert sweep_leftovers(tmp_path) == 5
    assert {path.name for path in tmp_path.iterdir()} == {"file", "other.tmp"}
    assert sweep_leftovers(tmp_path / "missing") == 0


def test_writing_replaces_a_link_and_not_its_target(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / "file").symlink_to("victim")
    with pytest.raises(UnsafeIndex):
        read_file(tmp_path / "file")
    with pytest.raises(UnsafeIndex):
        map_file(tmp_path / "file")
    write_atomic(tmp_path / "file", [b"ours"])
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert (tmp_path / "file").read_bytes() == b"ours"
    assert not (tmp_path / "file").is_symlink()


def test_reading_a_pipe_or_a_folder_fails_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        for read in (read_file, map_file):
            with pytest.raises(StorageFailed, match="not a regular file"):
                read(path)
    assert read_file(tmp_path / "missing") is None
    assert map_file(tmp_path / "missing") is None


def test_an_error_while_reading_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match=r"self/mem.*Input/output error"):
        read_file(Path("/proc/self/mem"))


def test_an_empty_file_reads_as_empty_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert map_file(tmp_path / "file") == b""
    assert read_file(tmp_path / "file") == b""


def test_files_are_accessible_only_to_their_owner_for_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_folder(tmp_path / "index")
        write_atomic(tmp_path / "index" / "file", [b"x"])
        with writer_lock(tmp_path / "index" / "lock", wait=False):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "index").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "index" / "file").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "index" / "lock").stat().st_mode) == 0o600


def test_of_several_writers_of_write_once_one_wins(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    target = tmp_path / "own" / "token"
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        write_once(target, b"%d" % number)
        contents.append(target.read_bytes())

    contents: list[bytes] = []
    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(set(contents)) == 1
    assert list(target.parent.iterdir()) == [target]


def test_write_once_works_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    write_once(tmp_path / "token", b"x")
    assert (tmp_path / "token").read_bytes() == b"x"


def test_removing_a_folder_does_not_follow_links_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "index" / "sub").mkdir(parents=True)
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "file").touch()
    (tmp_path / "index" / "sub" / "link").symlink_to(tmp_path / "keep")
    remove_tree(tmp_path / "index")
    remove_tree(tmp_path / "index")
    assert not (tmp_path / "index").exists()
    assert (tmp_path / "keep" / "file").exists()


def test_a_link_a_file_or_another_users_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(tmp_path / "index")
    assert require_own_folder(tmp_path / "index")
    assert not require_own_folder(tmp_path / "missing")
    (tmp_path / "link").symlink_to("index")
    (tmp_path / "file").touch()
    for name in ("link", "file"):
        with pytest.raises(UnsafeIndex):
            require_own_folder(tmp_path / name)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(UnsafeIndex, match="another user"):
        require_own_folder(tmp_path / "index")


def test_a_file_is_synced_renamed_and_then_its_folder_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    real_fsync, real_replace = os.fsync, Path.replace

    def fsync(handle: int) -> None:
        order.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        real_fsync(handle)

    def replace(path: Path, target: Path) -> Path:
        order.append("rename")
        return real_replace(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write_atomic(tmp_path / "file", [b"x"])
    assert order == ["file", "rename", "folder"]


def test_a_new_folder_is_synced_in_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a power cut may remove the folder with every durable file in it."""
    calls: list[tuple[str, int]] = []
    real_fsync, real_mkdir = os.fsync, Path.mkdir

    def fsync(handle: int) -> None:
        calls.append(("sync", os.fstat(handle).st_ino))
        real_fsync(handle)

    def mkdir(path: Path, mode: int) -> None:
        calls.append(("make", path.parent.stat().st_ino))
        real_mkdir(path, mode)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "mkdir", mkdir)
    make_folder(tmp_path / "new")
    parent = tmp_path.stat().st_ino
    assert calls == [("make", parent), ("sync", parent)]


def test_link_or_copy_creates_a_hard_link(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x")
    link_or_copy(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "one").samefile(tmp_path / "two")
    remove_file(tmp_path / "one")
    assert (tmp_path / "two").read_bytes() == b"x"


def test_link_or_copy_copies_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    (tmp_path / "one").write_bytes(b"x")
    monkeypatch.setattr("gitmem.fsio.os.link", refuse)
    link_or_copy(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "two").read_bytes() == b"x"
    assert not (tmp_path / "one").samefile(tmp_path / "two")


def test_link_or_copy_ignores_a_missing_file(tmp_path: Path) -> None:
    link_or_copy(tmp_path / "one", tmp_path / "two")
    assert list(tmp_path.iterdir()) == []


def test_small_parts_are_written_in_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = os.write

    def write(handle: int, data: bytes) -> int:
        sizes.append(len(data))
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    write_atomic(tmp_path / "file", [b"ab"] * 1000 + [b"c" * 1_000_000, b"", b"d"])
    assert (tmp_path / "file").read_bytes() == b"ab" * 1000 + b"c" * 1_000_000 + b"d"
    assert sizes == [2000, 1_000_000, 1]


def test_permissions_are_set_before_the_file_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    real = Path.replace

    def replace(source: Path, target: Path) -> Path:
        modes.append(stat.S_IMODE(source.stat().st_mode))
        return real(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    write_atomic(tmp_path / "file", [b"x"], mode=0o644)
    assert modes == [0o644]


def test_sweeping_spares_recent_temporary_files(tmp_path: Path) -> None:
    young, old, ahead = (tmp_path / f".{name}.1.tmp" for name in ("young", "old", "ahead"))
    for path, age in ((young, 0), (old, 7200), (ahead, -7200)):
        path.touch()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    assert sweep_leftovers(tmp_path, grace=600.0) == 2
    assert young.exists()
