"""Looking up a path in git's index without git."""

import pytest

from gitmem.git.index_file import holds_path
from gitmem.git.locate import locate
from tests.gitrepo import MakeRepo, Repo

FILES = [".a", ".github/x/y", ".gitignore", "a/b.py", "z"]


def present(repo: Repo) -> bool | None:
    return holds_path(locate(repo.path), ".gitmem")


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("name", [".gitmem", ".GitMem/manifest"])
def test_a_path_is_found_in_every_version_of_the_index(make_repo: MakeRepo, version: str, name: str) -> None:
    repo = make_repo()
    assert present(repo) is False
    repo.git("config", "index.version", version)
    repo.commit(dict.fromkeys(FILES, "content"))
    if version == "3":
        repo.git("update-index", "--skip-worktree", ".a")  # git writes this version only if a flag needs it
    assert (repo.path / ".git/index").read_bytes()[4:8] == int(version).to_bytes(4, "big")
    assert present(repo) is False
    assert holds_path(locate(repo.path), "a") is True
    assert holds_path(locate(repo.path), "A/B.py") is True
    repo.write({name: "x"})
    repo.git("add", "--force", name)
    assert present(repo) is True


def test_a_repository_of_the_newer_hash_is_read(make_repo: MakeRepo) -> None:
    repo = make_repo("repo", "--object-format=sha256")
    repo.commit(dict.fromkeys(FILES, "content"))
    assert present(repo) is False
    assert holds_path(locate(repo.path), ".github/x") is True


@pytest.mark.parametrize("damage", ["split", "long", "format", "short"])
def test_git_is_needed_if_the_beginning_of_the_index_does_not_suffice(make_repo: MakeRepo, damage: str) -> None:
    repo = make_repo()
    many = damage == "long"
    repo.commit({f".a/{number:04}{'x' * 100}": "x" for number in range(1000 if many else 3)})
    index = repo.path / ".git/index"
    if damage == "split":
        repo.git("update-index", "--split-index")
    elif damage == "format":
        index.write_bytes(b"DIRC\0\0\0\x05" + index.read_bytes()[8:])
    elif damage == "short":
        index.write_bytes(index.read_bytes()[:100])
    assert present(repo) is None
