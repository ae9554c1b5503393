"""Isolation and repositories for the tests of git access."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gitrepo import ISOLATION, Repo

MakeRepo = Callable[..., Repo]


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No home directory, no host configuration, no inherited repository."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name, value in ISOLATION.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def make_repo(tmp_path: Path) -> MakeRepo:
    """Make a repository below the test's folder: `make_repo("name", "--bare")`."""

    def make(name: str = "repo", *options: str) -> Repo:
        return Repo.init(tmp_path / name, *options)

    return make
