"""Objects come from a folder of our own: what git leaves there is removed, what it finished gets its usual place."""

import subprocess
import sys
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.errors import StorageFailed
from gitmem.fsio import Disk
from gitmem.git.locate import locate
from gitmem.git.object_format import RawObject, make_object
from gitmem.git.object_quarantine import PREFIX, remove_abandoned
from gitmem.git.references import store_objects
from tests.gitrepo import MakeRepo, Repo


def blobs(number: int) -> list[RawObject]:
    return [make_object("blob", b"blob %d" % place, "sha1") for place in range(number)]


def files(repo: Repo) -> set[str]:
    objects = repo.path / ".git/objects"
    return {str(path.relative_to(objects)) for path in objects.rglob("*") if path.is_file()}


@pytest.mark.parametrize("number", [3, 150], ids=["loose", "pack"])
def test_nothing_but_the_objects_remains(make_repo: MakeRepo, number: int) -> None:
    repo = make_repo()
    store_objects(locate(repo.path), blobs(number))
    assert not [name for name in files(repo) if "tmp_" in name]
    assert len(repo.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()) == number
    repo.git("fsck", "--strict", "--full")
    before = files(repo)
    store_objects(locate(repo.path), blobs(number))
    assert files(repo) == before


def test_objects_that_a_pack_has_are_not_stored_again(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({f"{place}": item.data for place, item in enumerate(blobs(3))})
    repo.git("repack", "-qad")
    before = files(repo)
    store_objects(locate(repo.path), blobs(3))
    assert files(repo) == before


def test_what_a_dead_writer_left_is_removed(make_repo: MakeRepo) -> None:
    repo = make_repo()
    objects = repo.path / ".git/objects"
    for folder in (f"{PREFIX}00ff/ab", "tmp_objdir-incoming-00ff/ab"):
        (objects / folder).mkdir(parents=True)
        (objects / folder / "tmp_obj_x").write_bytes(b"words of a record")
    remove_abandoned(locate(repo.path))
    assert files(repo) == {"tmp_objdir-incoming-00ff/ab/tmp_obj_x"}


@pytest.mark.parametrize("name", ["with:colon", 'with"quote:and', "with\nline:feed"])
def test_any_path_can_be_that_of_a_repository(tmp_path: Path, name: str) -> None:
    repo = Repo.init(tmp_path / name)
    repo.commit({"a": blobs(1)[0].data})
    before = files(repo)
    store_objects(locate(repo.path), blobs(2))
    assert len(files(repo) - before) == 1


def test_a_shared_repository_stays_shared(make_repo: MakeRepo) -> None:
    repo = make_repo("repo", "--shared=group")
    store_objects(locate(repo.path), blobs(20))
    objects = repo.path / ".git/objects"
    own = {path.stat().st_mode for path in objects.iterdir() if len(path.name) == 2}
    own_files = {path.stat().st_mode for path in objects.rglob("??/*")}
    other = Repo.init(repo.path.parent / "other", "--shared=group")
    other.git("hash-object", "-w", "--stdin", stdin=b"git's own")
    theirs = {path.stat().st_mode for path in (other.path / ".git/objects").rglob("??/*")}
    folders = {path.parent.stat().st_mode for path in (other.path / ".git/objects").rglob("??/*")}
    assert (own, own_files) == (folders, theirs)


@pytest.mark.parametrize("number", [1, 150], ids=["loose", "pack"])
def test_a_full_disk_leaves_nothing_behind(make_repo: MakeRepo, number: int) -> None:
    """A limit on the size of files stands for the disk: git's write fails in the middle of an object."""
    repo = make_repo()
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from gitmem.git.locate import locate; from gitmem.git.object_format import make_object\n"
        "from gitmem.git.references import store_objects; from gitmem.errors import GitFailed\n"
        "import os; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); number = int(sys.argv[2])\n"
        "objects = [make_object('blob', os.urandom((1 << 20) // number), 'sha1') for _ in range(number)]\n"
        "location = locate(Path(sys.argv[1])); resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))\n"
        "try: store_objects(location, objects)\n"
        "except GitFailed: sys.exit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(repo.path), str(number)], check=False)
    assert done.returncode == 7
    assert files(repo) == set()


def test_a_folder_that_git_removes_meanwhile_is_made_again(
    make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo()

    class Pruned(Disk):
        """Disk on which `git prune-packed` runs before the first renames into the object database."""

        left = 3

        def rename(self, source: Path, target: Path) -> None:
            if self.left and target.parent.parent.name == "objects":
                self.left -= 1
                repo.git("prune-packed")
            super().rename(source, target)

    monkeypatch.setattr(fsio, "disk", Pruned())
    item = blobs(1)
    store_objects(locate(repo.path), item)
    assert repo.git("cat-file", "-t", item[0].oid) == "blob"


def test_an_object_folder_that_cannot_be_written_is_reported_once(make_repo: MakeRepo) -> None:
    repo = make_repo()
    item = blobs(1)
    (repo.path / ".git/objects" / item[0].oid[:2]).write_bytes(b"not a folder")
    with pytest.raises(StorageFailed, match="cannot write"):
        store_objects(locate(repo.path), item)
