"""Reading of blobs with both engines, from repositories in every state."""

import os
import shutil
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.git.batch import WINDOW, ProgramReader
from gitmem.git.library import LibraryReader
from gitmem.git.locate import locate
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.program import FIXED_VARIABLES
from gitmem.git.trees import read_tree
from tests.gitrepo import MakeRepo, Repo

NOWHERE = "0" * 40
CONTENTS = {
    "empty": b"",
    "text": b"one\r\ntwo",
    "binary": bytes(range(256)) * 40,
    "newlines": b"\n\n",
    "long": b"x" * 200_000,
}

engines = pytest.mark.parametrize("bulk", [False, True], ids=["program", "library"])


def _oids(repo: Repo) -> dict[str, str]:
    lines = repo.git("ls-tree", "-r", "HEAD").splitlines()
    return {path: head.split()[2] for head, path in (line.split("\t") for line in lines)}


@engines
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_contents_and_sizes_are_exact(make_repo: MakeRepo, bulk: bool, packed: bool) -> None:
    repo = make_repo()
    repo.commit({"seed": "s"})
    repo.git("repack", "-adq")
    repo.commit(CONTENTS)
    if packed:
        repo.git("repack", "-adq")
    oids = _oids(repo)
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        assert isinstance(reader, LibraryReader if bulk else ProgramReader)
        for name, data in CONTENTS.items():
            assert reader.read(oids[name]) == data
            assert reader.size(oids[name]) == len(data)
        assert dict(reader.read_many(oids[name] for name in CONTENTS)) == {oids[n]: d for n, d in CONTENTS.items()}
        assert reader.sizes([oids["long"], NOWHERE, oids["empty"]]) == [200_000, None, 0]
        assert not reader.damaged


@engines
def test_missing_objects_and_other_kinds_are_none(make_repo: MakeRepo, bulk: bool) -> None:
    repo = make_repo()
    commit = repo.commit({"a": "x"})
    repo.git("repack", "-adq")
    others = [NOWHERE, commit, repo.oid("HEAD^{tree}")]
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        assert list(reader.read_many([*others, repo.oid("HEAD:a")]))[:3] == [(oid, None) for oid in others]
        assert reader.sizes([*others, repo.oid("HEAD:a")]) == [None, None, None, 1]
        assert [(reader.read(oid), reader.size(oid)) for oid in others] == [(None, None)] * 3
        assert reader.read(repo.oid("HEAD:a")) == b"x"
        assert not reader.damaged


@engines
def test_an_empty_list_gives_an_empty_result(make_repo: MakeRepo, bulk: bool) -> None:
    with open_reader(locate(make_repo().path), bulk=bulk) as reader:
        assert (list(reader.read_many([])), reader.sizes([])) == ([], [])


@engines
def test_many_large_blobs_cannot_block_the_pipes(make_repo: MakeRepo, bulk: bool) -> None:
    repo = make_repo()
    repo.commit({f"f{number}": f"{number}\n" * 30_000 for number in range(WINDOW + 5)})
    oids = list(_oids(repo).values()) * 3
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        answers = list(reader.read_many(oids))
    assert [oid for oid, _ in answers] == oids
    assert all(data for _, data in answers)


@engines
def test_an_abandoned_iterator_does_not_affect_later_reads(make_repo: MakeRepo, bulk: bool) -> None:
    repo = make_repo()
    repo.commit({f"f{number}": f"content {number}" for number in range(200)})
    oids = _oids(repo)
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        stream = reader.read_many(list(oids.values()))
        first = next(stream)
        assert reader.read(oids["f7"]) == b"content 7"
        second = next(stream)
        assert reader.read(oids["f9"]) == b"content 9"
        stream.close()  # type: ignore[attr-defined]
        assert (first[0], second[0]) == tuple(list(oids.values())[:2])
        assert dict(reader.read_many(oids.values())) == {oid: f"content {n[1:]}".encode() for n, oid in oids.items()}


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs the memory maps that Linux reports")
def test_the_program_holds_little_of_a_large_pack(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.git("config", "core.compression", "0")
    repo.commit({name: os.urandom(12 << 20) for name in "abc"})
    repo.git("repack", "-adq")
    with open_reader(locate(repo.path), bulk=False) as reader:
        assert isinstance(reader, ProgramReader)
        assert all(data for _, data in reader.read_many(_oids(repo).values()))
        assert reader._idle is not None
        assert 0 < _mapped_kilobytes(reader._idle.pid, ".pack") <= 32 << 10


def _mapped_kilobytes(process_id: int, ending: str) -> int:
    """Return how much of the files with an ending a process has in memory."""
    resident, is_counted = 0, False
    for line in Path(f"/proc/{process_id}/smaps").read_text().splitlines():
        first = line.split()[0]
        if not first.endswith(":"):
            is_counted = line.endswith(ending)
        elif is_counted and first == "Rss:":
            resident += int(line.split()[1])
    return resident


def test_a_killed_batch_process_loses_nothing(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({f"f{number}": f"content {number}\n" * 20_000 for number in range(150)})
    oids = list(_oids(repo).values())
    with ProgramReader(locate(repo.path)).start() as reader:
        assert reader._idle is not None
        reader._idle.kill()
        reader._idle.wait()
        answers = list(reader.read_many(oids))
        assert [oid for oid, _ in answers] == oids
        assert all(data for _, data in answers)
        assert not reader.damaged
    reader.close()


def _damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes({"truncated": data[: len(data) // 2], "empty": b"", "zeroed": data[:30] + bytes(len(data) - 30),
                      "garbage": b"x" * len(data), "cut to one": data[:1]}[how])  # fmt: skip


@engines
@pytest.mark.parametrize("how", ["truncated", "empty", "zeroed", "garbage", "cut to one"])
def test_a_damaged_loose_object_is_skipped_and_distinguished_from_a_missing_one(
    make_repo: MakeRepo, bulk: bool, how: str
) -> None:
    repo = make_repo()
    repo.commit({"packed": "p"})
    repo.git("repack", "-adq")
    repo.commit({f"f{number}": "".join(f"{number} {line * line}\n" for line in range(9_000)) for number in range(5)})
    oids = _oids(repo)
    _damage(repo.loose_object(oids["f2"]), how)
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        answers = dict(reader.read_many([NOWHERE, *oids.values()]))
        assert {name for name, oid in oids.items() if answers[oid] is None} == {"f2"}
        assert answers[NOWHERE] is None
        assert reader.damaged == {oids["f2"]}
        assert reader.read(oids["f2"]) is None
        assert len(reader.sizes(oids.values())) == 6


@engines
@pytest.mark.parametrize("claimed", [2, 4, 1 << 20, 1 << 40, 1 << 62])
def test_an_object_with_a_wrong_length_is_damaged_and_never_blocks_the_reader(
    make_repo: MakeRepo, bulk: bool, claimed: int
) -> None:
    repo = make_repo()
    repo.commit({"packed": "p"})
    repo.git("repack", "-adq")
    repo.commit({f"f{number}": f"{number}\n" * 50_000 for number in range(4)} | {"lies": "one"})
    oids = _oids(repo)
    repo.loose_object(oids["lies"]).chmod(0o644)
    repo.loose_object(oids["lies"]).write_bytes(zlib.compress(b"blob %d\0one" % claimed))
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        for requested in ([oids["lies"], *oids.values()], [oids["lies"]], [*oids.values(), oids["lies"]]):
            assert {oid for oid, data in reader.read_many(requested) if data is None} == {oids["lies"]}
        assert reader.damaged == {oids["lies"]}


@engines
def test_wrong_content_under_an_object_id_is_detected(make_repo: MakeRepo, bulk: bool) -> None:
    repo = make_repo()
    repo.commit({"packed": "p"})
    repo.git("repack", "-adq")
    repo.commit({"a": "one", "b": "two"})
    oids = _oids(repo)
    repo.loose_object(oids["a"]).chmod(0o644)
    shutil.copyfile(repo.loose_object(oids["b"]), repo.loose_object(oids["a"]))
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        assert reader.read(oids["a"]) is None
        assert dict(reader.read_many(oids.values()))[oids["b"]] == b"two"
        assert reader.damaged == {oids["a"]}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_pack_never_blocks_and_never_gives_wrong_bytes_in_bulk(
    make_repo: MakeRepo, data: st.DataObject
) -> None:
    repo = make_repo()
    if not (repo.path / "f0").exists():
        repo.commit({f"f{number}": f"{number}\n" * 500 + os.urandom(300).hex() for number in range(6)})
        repo.git("repack", "-adq")
        shutil.copytree(repo.path / ".git" / "objects", repo.path.parent / "original")
    shutil.rmtree(repo.path / ".git" / "objects")
    shutil.copytree(repo.path.parent / "original", repo.path / ".git" / "objects")
    location, oids = locate(repo.path), _oids(repo)
    (victim,) = (repo.path / ".git" / "objects" / "pack").glob(data.draw(st.sampled_from(["*.pack", "*.idx"])))
    content = bytearray(victim.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(1, 400))
    content[at : at + length] = data.draw(st.sampled_from([b"", b"\0" * length, b"\xff" * length]))
    victim.chmod(0o644)
    victim.write_bytes(content)
    with open_reader(location, bulk=True) as reader:
        for name, oid in oids.items():
            assert reader.read(oid) in (None, (repo.path / name).read_bytes())
        assert [oid for oid, _ in reader.read_many(oids.values())] == list(oids.values())


@engines
def test_repacking_and_pruning_under_an_open_reader_loses_nothing_reachable(make_repo: MakeRepo, bulk: bool) -> None:
    repo = make_repo()
    repo.commit({f"f{number}": f"{number}\n" for number in range(20)})
    repo.git("repack", "-adq")
    repo.commit({f"g{number}": f"{number} g\n" for number in range(20)})
    oids = _oids(repo)
    unreachable = repo.git("hash-object", "-w", "--stdin", stdin=b"unreachable")
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        assert reader.read(oids["f1"]) == b"1\n"
        repo.git("gc", "--quiet", "--prune=now")
        answers = dict(reader.read_many([*oids.values(), unreachable]))
        assert answers.pop(unreachable) is None
        assert all(answers.values())
        assert not reader.damaged


@engines
def test_a_replaced_blob_keeps_the_content_of_its_id(make_repo: MakeRepo, bulk: bool) -> None:
    repo = make_repo()
    repo.commit({"a": "old", "b": "new"})
    repo.git("repack", "-adq")
    oids = _oids(repo)
    repo.git("replace", oids["a"], oids["b"])
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        assert reader.read(oids["a"]) == b"old"


@engines
def test_objects_of_an_alternate_are_read(make_repo: MakeRepo, tmp_path: Path, bulk: bool) -> None:
    source = make_repo()
    source.commit({"a": "borrowed"})
    source.git("repack", "-adq")
    source.git("clone", "--quiet", "--shared", str(source.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    clone.commit({"b": "own"})
    clone.git("repack", "-adlq")
    oids = _oids(clone)
    with open_reader(locate(clone.path), bulk=bulk) as reader:
        assert dict(reader.read_many(oids.values())) == {oids["a"]: b"borrowed", oids["b"]: b"own"}


@engines
def test_linked_worktrees_and_bare_repositories_are_read(make_repo: MakeRepo, tmp_path: Path, bulk: bool) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    repo.git("repack", "-adq")
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare"))
    for place in (tmp_path / "linked", tmp_path / "bare"):
        with open_reader(locate(place), bulk=bulk) as reader:
            assert reader.read(repo.oid("HEAD:a")) == b"x"


@engines
def test_a_sha256_repository_is_read(make_repo: MakeRepo, bulk: bool) -> None:
    repo = make_repo("repo", "--object-format=sha256")
    repo.commit({"a": "x", "b": "y"})
    repo.git("repack", "-adq")
    with open_reader(locate(repo.path), bulk=bulk) as reader:
        oids = _oids(repo)
        assert dict(reader.read_many(oids.values())) == {oids["a"]: b"x", oids["b"]: b"y"}
        assert reader.sizes(["0" * 64, oids["a"]]) == [None, 1]


@pytest.fixture(params=["this git", "a git that would fetch"])
def partial_clone(
    make_repo: MakeRepo, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Repo:
    """Make a clone without its older blobs, whose remote could deliver them at any time."""
    source = make_repo("source")
    source.git("config", "uploadpack.allowFilter", "true")
    source.git("config", "uploadpack.allowAnySHA1InWant", "true")
    source.commit({f"f{number}": f"old {number}\n" for number in range(40)})
    source.commit({f"f{number}": f"new {number}\n" for number in range(40)})
    source.git("clone", "--quiet", "--filter=blob:none", source.path.as_uri(), str(tmp_path / "partial"))
    clone = Repo(tmp_path / "partial")
    clone.git("config", "protocol.file.allow", "always")
    if request.param != "this git":
        monkeypatch.delitem(FIXED_VARIABLES, "GIT_NO_LAZY_FETCH")
        monkeypatch.delitem(FIXED_VARIABLES, "GIT_ALLOW_PROTOCOL")
    return clone


@engines
def test_a_partial_clone_never_fetches_missing_objects(partial_clone: Repo, bulk: bool) -> None:
    location = locate(partial_clone.path)
    new = [entry.oid for entry in read_tree(location, partial_clone.oid("HEAD^{tree}"))]
    old = [entry.oid for entry in read_tree(location, partial_clone.oid("HEAD~1^{tree}"))]
    mixed = [oid for pair in zip(new, old, strict=True) for oid in pair]
    before = sorted(path.name for path in (partial_clone.path / ".git" / "objects").rglob("*"))
    with open_reader(location, bulk=bulk) as reader:
        answers = dict(reader.read_many(mixed))
        assert all(answers[oid] for oid in new)
        assert not any(answers[oid] for oid in old)
        assert [size is None for size in reader.sizes(mixed)] == [False, True] * 40
        assert reader.read(old[0]) is None
        assert reader.size(old[0]) is None
        assert not reader.damaged
    assert sorted(path.name for path in (partial_clone.path / ".git" / "objects").rglob("*")) == before


def test_the_reader_of_a_partial_clone_leaves_no_temporary_files(
    partial_clone: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with open_reader(locate(partial_clone.path), bulk=False) as reader:
        assert len(list((tmp_path / "temporary").iterdir())) == 1
        reader.read(NOWHERE)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_both_engines_agree_on_every_object(make_repo: MakeRepo) -> None:
    repo = make_repo()
    for turn in range(3):
        repo.commit({f"f{number}": f"{number} {turn}\n" * (number * 50) for number in range(25)})
        if turn < 2:
            repo.git("repack", "-dq")
    listed = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines()
    location = locate(repo.path)

    def everything(reader: ObjectReader) -> tuple[object, ...]:
        with reader:
            return list(reader.read_many(listed)), reader.sizes(listed), [reader.size(oid) for oid in listed[:9]]

    assert everything(open_reader(location, bulk=True)) == everything(open_reader(location, bulk=False))
