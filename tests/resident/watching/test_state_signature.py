"""The signature of a repository's state changes with everything an open tree depends on, and with nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.resident.watching.state_signature import read_signature
from tests.gitrepo import Repo
from tests.sample import open_sample

CHANGES: dict[str, Callable[[Repo], object]] = {
    "commit": lambda repo: repo.commit({"new.py": "x = 1\n"}),
    "checkout": lambda repo: repo.git("checkout", "-q", "v1"),
    "branch moved": lambda repo: repo.git("update-ref", "refs/heads/main", "v1"),
    "staged": lambda repo: repo.git("rm", "-q", "--cached", "src/cookies.py"),
    "memory": lambda repo: repo.git("update-ref", "refs/gitmem/memory", "HEAD"),
    "index of gitmem": lambda repo: (repo.path / ".gitmem" / "manifest").write_bytes(b"x"),
    "configuration": lambda repo: (repo.path / "configuration").write_text("[core]\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_the_signature_changes_with_the_state(own: Repo, change: Callable[[Repo], object]) -> None:
    workspace, configuration = open_sample(own), [own.path / "configuration"]
    before = read_signature(workspace, configuration)
    (own.path / "untracked.txt").touch()
    assert read_signature(workspace, configuration) == before
    change(own)
    assert read_signature(workspace, configuration) != before


def test_a_repository_without_commits_or_index_has_a_signature(tmp_path: Path) -> None:
    assert None in read_signature(open_sample(Repo.init(tmp_path / "new")), [])
