"""The signature of a repository's state changes with everything an open tree depends on, and with nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.resident.watching.state_signature import SeenFiles, read_signature
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
    workspace, configuration = open_sample(own), [str(own.path / "configuration")]
    before = read_signature(workspace, configuration)
    (own.path / "untracked.txt").touch()
    assert read_signature(workspace, configuration) == before
    change(own)
    assert read_signature(workspace, configuration) != before


def test_a_repository_without_commits_or_index_has_a_signature(tmp_path: Path) -> None:
    assert None in read_signature(open_sample(Repo.init(tmp_path / "new")), [])


def test_a_call_looks_once_at_a_configuration_that_repositories_share(own: Repo, tmp_path: Path) -> None:
    other, shared = open_sample(Repo.init(tmp_path / "other")), own.path / "configuration"
    first = open_sample(own)
    seen: SeenFiles = {}
    before = [read_signature(one, [str(shared)]) for one in (first, other)]
    assert read_signature(first, [str(shared)], seen) == before[0]
    shared.write_text("[core]\n")
    # This call has seen it, and the next one will see that it has changed.
    assert read_signature(other, [str(shared)], seen) == before[1]
    assert read_signature(other, [str(shared)], {}) != before[1]
