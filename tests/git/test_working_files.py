"""Files of a working tree as blobs: ids as git computes them, and contents by id."""

import os
import time
from pathlib import Path

import pytest

from gitmem.git.locate import locate
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.working_files import HASHED_AT_ONCE, blob_id, hash_files, read_unchanged
from tests.gitrepo import Repo

NAMES = (b"a.py", b"sp ace.py", b'"quoted".py', b"back\\slash.py", b"li\nne.py", b"re\r", b"\xff\xfe.py", b"-n",
    b"\x01", "größe.py".encode(), b"deep/er/x.py")  # fmt: skip
CRLF = b"one\r\ntwo\r\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"first.txt": "first\n"})
    return repo


def put(repo: Repo, path: bytes, data: bytes) -> None:
    target = repo.path / os.fsdecode(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def objects(repo: Repo) -> list[Path]:
    return sorted((repo.path / ".git" / "objects").rglob("*"))


def reading(repo: Repo, files: dict[str, bytes]) -> ObjectReader:
    return open_reader(locate(repo.path), bulk=False, files=files)


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_ids_equal_those_of_a_commit(tmp_path: Path, kind: str) -> None:
    repo = Repo.init(tmp_path / kind, f"--object-format={kind}")
    for number, name in enumerate(NAMES):
        put(repo, name, b"%d\n" % number)
    result = hash_files(locate(repo.path), NAMES)
    assert not [path for path in objects(repo) if path.is_file()]
    repo.git("add", "--all")
    listed = repo.git_bytes("ls-files", "-s", "-z").split(b"\0")[:-1]
    assert result == {line.partition(b"\t")[2]: line.split()[1].decode() for line in listed}
    assert result[b"a.py"] == blob_id(locate(repo.path), b"0\n")


@pytest.mark.parametrize("how", ["attributes", "autocrlf", "filter"])
def test_filters_are_applied_to_ids_and_contents(repo: Repo, how: str) -> None:
    if how == "attributes":
        repo.write({".gitattributes": "*.txt text\n"})
    elif how == "autocrlf":
        repo.git("config", "core.autocrlf", "input")
    else:
        repo.write({"sub/.gitattributes": "*.txt filter=shout\n"})
        repo.git("config", "filter.shout.clean", "tr a-z A-Z")
    put(repo, b"sub/x.txt", CRLF)
    before = objects(repo)
    result = hash_files(locate(repo.path), [b"sub/x.txt"])
    oid = result[b"sub/x.txt"]
    assert oid is not None
    with reading(repo, {oid: b"sub/x.txt"}) as reader:
        assert reader.read(oid) == {"filter": b"ONE\r\nTWO\r\n"}.get(how, b"one\ntwo\n")
    assert objects(repo) == before, "the object database must not change"
    repo.git("add", "--all")
    assert oid == repo.oid(":sub/x.txt")


def test_a_missing_file_does_not_affect_the_others(repo: Repo) -> None:
    for name in (b"a", b"c", b"e"):
        put(repo, name, name)
    result = hash_files(locate(repo.path), [b"a", b"b", b"c", b"d", b"e"])
    assert {path for path, oid in result.items() if oid is None} == {b"b", b"d"}
    assert result[b"e"] == blob_id(locate(repo.path), b"e")


def test_many_files_are_hashed_in_order(repo: Repo) -> None:
    names = [b"f%d" % number for number in range(2 * HASHED_AT_ONCE + 2)]
    missing = {names[number] for number in (0, 1, 700, HASHED_AT_ONCE, HASHED_AT_ONCE + 1, len(names) - 1)}
    for name in names:
        if name not in missing:
            put(repo, name, name)
    location = locate(repo.path)
    result = hash_files(location, names)
    assert list(result) == names
    assert result == {name: None if name in missing else blob_id(location, name) for name in names}


def test_after_the_deadline_only_the_first_are_hashed(repo: Repo) -> None:
    names = [b"f%d" % number for number in range(HASHED_AT_ONCE + 3)]
    for name in names:
        put(repo, name, name)
    assert list(hash_files(locate(repo.path), names, deadline=time.monotonic() - 1)) == names[:HASHED_AT_ONCE]
    assert hash_files(locate(repo.path), [], deadline=0.0) == {}


def test_blobs_are_read_from_files_and_from_git_in_one_call(repo: Repo) -> None:
    location = locate(repo.path)
    put(repo, b"new.py", b"new\n")
    new, old, none = blob_id(location, b"new\n"), repo.oid("HEAD:first.txt"), "1" * 40
    with reading(repo, {new: b"new.py"}) as reader:
        assert dict(reader.read_many([old, new, none])) == {old: b"first\n", new: b"new\n", none: None}
        assert reader.sizes([none, new, old]) == [None, 4, 6]
        assert (reader.size(new), reader.read(old)) == (4, b"first\n")


@pytest.mark.parametrize("how", ["changed", "deleted", "link", "folder"])
def test_a_file_that_has_changed_is_not_its_blob(repo: Repo, tmp_path: Path, how: str) -> None:
    location = locate(repo.path)
    put(repo, b"new.py", b"new\n")
    oid = blob_id(location, b"new\n")
    (tmp_path / "outside").write_bytes(b"new\n")
    if how == "changed":
        put(repo, b"new.py", b"other\n")
    else:
        (repo.path / "new.py").unlink()
    if how == "link":
        (repo.path / "new.py").symlink_to(tmp_path / "nowhere")
    elif how == "folder":
        put(repo, b"new.py/x", b"x\n")
    with reading(repo, {oid: b"new.py"}) as reader:
        assert reader.read(oid) is None


def test_a_committed_file_that_has_changed_is_read_from_git(repo: Repo) -> None:
    location = locate(repo.path)
    repo.commit({"new.py": "new\n"})
    (repo.path / "new.py").unlink()
    oid = blob_id(location, b"new\n")
    with reading(repo, {oid: b"new.py"}) as reader:
        assert reader.read(oid) == b"new\n"
        assert reader.size(oid) == 4


def test_only_files_that_equal_their_blob_byte_for_byte_are_unchanged(repo: Repo) -> None:
    names = ("same.txt", "edited.txt", "deleted.txt", "link.txt", "folder.txt", "pipe.txt", "ends.txt")
    repo.write({".gitattributes": "ends.txt text\n", "elsewhere": "link.txt\n"})
    repo.write({name: f"{name}\n" for name in names})
    repo.write({"ends.txt": CRLF})
    repo.git("add", "--all")
    oids = {name: repo.git("rev-parse", f":{name}").strip() for name in names}
    repo.write({"edited.txt": "edited.txt?\n"})
    for name in ("deleted.txt", "link.txt", "folder.txt", "pipe.txt"):
        (repo.path / name).unlink()
    (repo.path / "link.txt").symlink_to("elsewhere")
    (repo.path / "folder.txt").mkdir()
    os.mkfifo(repo.path / "pipe.txt")
    result = read_unchanged(locate(repo.path), {oid: name.encode() for name, oid in oids.items()})
    assert result == {oids["same.txt"]: b"same.txt\n"}
