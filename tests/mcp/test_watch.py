"""Whether nothing changed is told for certain, or not at all."""

import time
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.errors import ObserverFailed
from gitmem.mcp.watch import Watch
from gitmem.observe import Observation
from tests.gitrepo import Repo
from tests.sample import open_sample


def wait_until_quiet(watch: Watch) -> bool:
    """Let what was told of earlier changes pass."""
    for _ in range(200):
        watch.forget()
        if watch.is_quiet():
            return True
        time.sleep(0.01)
    return False


def test_no_change_is_missed_however_soon_it_is_asked_about(own: Repo) -> None:
    watch = Watch(open_sample(own))
    watch.begin()
    for turn in range(50):
        assert wait_until_quiet(watch)
        assert watch.is_quiet()
        (own.path / "notes.txt").write_text(f"turn {turn}")
        assert not watch.is_quiet()
    watch.close()
    assert not watch.is_quiet()


def test_nothing_of_it_is_seen_or_left(own: Repo) -> None:
    state = own.path / ".gitmem" / "state"
    before = set(state.iterdir())
    watch = Watch(open_sample(own))
    watch.begin()
    assert wait_until_quiet(watch)
    assert own.git("status", "--porcelain") == ""
    watch.close()
    assert set(state.iterdir()) == before


def test_where_the_disk_takes_no_file_nothing_is_certain(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(open_sample(own))
    watch.begin()
    assert wait_until_quiet(watch)

    def refuse(*_: object) -> int:
        raise OSError(30, "read-only")

    monkeypatch.setattr(fsio.disk, "create", refuse)
    assert not watch.is_quiet()
    watch.close()


@pytest.mark.parametrize("case", ["linked", "no index", "unobserved"])
def test_where_nothing_is_certain_it_is_never_quiet(
    own: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    repo = own
    if case == "linked":
        own.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
        repo = Repo(tmp_path / "side")
    elif case == "no index":
        repo = Repo.init(tmp_path / "new")
    else:

        def fail(_self: object) -> None:
            raise ObserverFailed("no watches left")

        monkeypatch.setattr(Observation, "__enter__", fail)
    watch = Watch(open_sample(repo))
    watch.begin()
    time.sleep(0.2)
    watch.forget()
    assert not watch.is_quiet()
    watch.close()
