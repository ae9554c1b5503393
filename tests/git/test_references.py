"""Durable objects, and compare-and-swap on references."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.locate import locate
from gitmem.git.object_format import format_commit, make_object
from gitmem.git.references import delete_reference, drop_reflog, read_reference, store_objects, update_reference
from tests.gitrepo import MakeRepo, Repo, isolated_environment

NAME = "refs/gitmem/memory"


def _commit(repo: Repo, message: str) -> str:
    location = locate(repo.path)
    tree = make_object("tree", b"", location.object_format)
    commit = make_object("commit", format_commit(tree.oid, None, "a <b>", 1, message), location.object_format)
    store_objects(location, [tree, commit])
    return commit.oid


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("number", [1, 150], ids=["loose", "pack"])
def test_stored_objects_equal_those_of_git(make_repo: MakeRepo, object_format: str, number: int) -> None:
    repo = make_repo("repo", f"--object-format={object_format}")
    contents = [b"%d" % place * (place * 7) for place in range(number)]
    store_objects(locate(repo.path), [make_object("blob", data, object_format) for data in contents])
    for data in contents[:: max(1, number // 5)]:
        oid = repo.git("hash-object", "--stdin", stdin=data)
        assert repo.git_bytes("cat-file", "blob", oid) == data
    assert bool(list((repo.path / ".git/objects/pack").glob("*.pack"))) == (number > 100)


def test_a_reference_is_updated_only_from_its_expected_value(make_repo: MakeRepo) -> None:
    repo = make_repo()
    location = locate(repo.path)
    first, second = _commit(repo, "first"), _commit(repo, "second")
    assert read_reference(location, NAME) is None
    assert not update_reference(location, NAME, second, first)
    assert update_reference(location, NAME, first, None)
    assert not update_reference(location, NAME, second, None)
    assert not update_reference(location, NAME, second, second)
    assert update_reference(location, NAME, second, first)
    assert read_reference(location, NAME) == second == repo.oid(NAME)


def test_a_reference_that_moved_before_its_follower_failed_is_not_moved_again(make_repo: MakeRepo) -> None:
    repo = make_repo()
    location = locate(repo.path)
    first, second = _commit(repo, "first"), _commit(repo, "second")
    follower = "refs/gitmem-backup/memory"
    in_the_way = repo.path / ".git/logs" / follower / "log"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.touch()
    with pytest.raises(GitFailed, match=rf"^git cannot move `{follower}`: "):
        update_reference(location, NAME, first, None, follower=follower)
    assert read_reference(location, NAME) == first
    in_the_way.unlink()
    assert update_reference(location, NAME, second, first, follower=follower)
    assert read_reference(location, NAME) == second == read_reference(location, follower)


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_reference_is_read_as_git_reads_it_wherever_it_is_stored(make_repo: MakeRepo, object_format: str) -> None:
    repo = make_repo("repo", f"--object-format={object_format}")
    location = locate(repo.path)
    first, second = _commit(repo, "first"), _commit(repo, "second")
    file = repo.path / ".git" / NAME
    assert update_reference(location, NAME, first, None)
    assert file.read_text() == f"{first}\n"
    assert read_reference(location, NAME) == first
    repo.git("pack-refs", "--all")
    assert not file.exists()
    assert read_reference(location, NAME) == first
    assert update_reference(location, NAME, second, first)  # its own file counts, not the packed one
    assert read_reference(location, NAME) == second
    repo.git("update-ref", "refs/heads/other", first)
    file.write_text("ref: refs/heads/other\n")
    assert read_reference(location, NAME) == first
    file.unlink()
    file.symlink_to(repo.path / "other")
    (repo.path / "other").write_text(f"{second}\n")
    assert read_reference(location, NAME) == second == repo.oid(NAME)
    file.unlink()
    file.write_text("nonsense\n")
    with pytest.raises(GitFailed, match="cannot read"):
        read_reference(location, NAME)


def test_a_reference_with_a_file_takes_no_process(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo()
    location = locate(repo.path)
    commit = _commit(repo, "first")
    assert update_reference(location, NAME, commit, None)
    monkeypatch.setenv("PATH", "/nowhere")
    assert read_reference(location, NAME) == commit


def test_the_lock_of_a_dead_writer_is_removed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    first = _commit(repo, "first")
    lock = repo.path / ".git" / f"{NAME}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    assert update_reference(locate(repo.path), NAME, first, None)
    assert not lock.exists()


def test_a_reference_is_deleted_although_its_lock_was_left_behind(make_repo: MakeRepo) -> None:
    repo = make_repo()
    location = locate(repo.path)
    assert update_reference(location, NAME, _commit(repo, "first"), None)
    lock = repo.path / ".git" / f"{NAME}.lock"
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    delete_reference(location, NAME)
    assert read_reference(location, NAME) is None
    assert not lock.exists()


@pytest.mark.parametrize("lock", [f"logs/{NAME}.lock", f"{NAME}.lock"])
def test_a_reflog_is_emptied_although_its_lock_was_left_behind(make_repo: MakeRepo, lock: str) -> None:
    repo = make_repo()
    location = locate(repo.path)
    assert update_reference(location, NAME, _commit(repo, "first"), None)
    path = repo.path / ".git" / lock
    path.touch()
    os.utime(path, (time.time() - 60, time.time() - 60))
    drop_reflog(location, NAME)
    assert repo.git("reflog", "show", NAME) == ""
    assert not path.exists()


def test_the_lock_of_a_live_writer_is_waited_for(make_repo: MakeRepo) -> None:
    repo = make_repo()
    first = _commit(repo, "first")
    lock = repo.path / ".git" / f"{NAME}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(0.5); os.remove({str(lock)!r})"]):
        assert update_reference(locate(repo.path), NAME, first, None)


def test_a_reference_that_cannot_be_updated_is_an_error(make_repo: MakeRepo) -> None:
    repo = make_repo()
    with pytest.raises(GitFailed, match="cannot move"):
        update_reference(locate(repo.path), NAME, "1" * 40, None)


def test_no_hook_of_the_user_runs(make_repo: MakeRepo) -> None:
    repo = make_repo()
    hook = repo.path / ".git/hooks/reference-transaction"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert update_reference(locate(repo.path), NAME, _commit(repo, "first"), None)


WRITER = """
import sys
from pathlib import Path
from gitmem.git.locate import locate
from gitmem.git.object_format import format_commit, make_object
from gitmem.git.references import update_reference, store_objects
location = locate(Path(sys.argv[1]))
tree = make_object("tree", b"", "sha1")
commit = make_object("commit", format_commit(tree.oid, None, "a <b>", 1, "x"), "sha1")
store_objects(location, [tree, commit])
assert update_reference(location, "refs/gitmem/memory", commit.oid, None)
"""


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_objects_reference_and_their_folders_are_fsynced(make_repo: MakeRepo, tmp_path: Path) -> None:
    """Includes a control: by default git fsyncs neither loose objects nor folders."""
    repo = make_repo()
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,rename,link", "-o", str(trace)]
    subprocess.run([*command, sys.executable, "-c", WRITER, str(repo.path)], env=isolated_environment(), check=True)
    lines = trace.read_text().splitlines()
    synced = [line.partition("sync(")[2].partition("<")[2].partition(">")[0] for line in lines if "sync(" in line]
    objects = repo.path / ".git/objects"
    for oid in (repo.oid(NAME), repo.oid(NAME + "^{tree}")):
        folder = objects / oid[:2]
        quarantined = rf"{re.escape(str(objects))}/tmp_objdir-gitmem-[0-9a-f]+/{oid[:2]}/tmp_obj"
        assert any(re.match(quarantined, name) for name in synced)
        assert str(folder) in synced
    assert str(objects) in synced
    moved = next(place for place, line in enumerate(lines) if "rename(" in line and "memory.lock" in line)
    before, after = "\n".join(lines[:moved]), "\n".join(lines[moved:])
    assert "memory.lock>" in before
    assert all(f"<{repo.path / '.git' / folder}>" in after for folder in ("refs/gitmem", "refs"))

    control = tmp_path / "control"
    alone = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", str(control)]
    subprocess.run(
        [*alone, "git", "hash-object", "-w", "--stdin"],
        cwd=repo.path, env=isolated_environment(), input=b"control", check=True, capture_output=True,
    )  # fmt: skip
    assert "sync(" not in control.read_text()
