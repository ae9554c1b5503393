"""Two people with a clone each of one bare remote."""

from pathlib import Path

import pytest

from tests.gitrepo import Repo
from tests.records.sharing_clones import Clone, make_clone, make_remote


@pytest.fixture
def remote(tmp_path: Path) -> Repo:
    return make_remote(tmp_path / "remote")


@pytest.fixture
def ann(remote: Repo) -> Clone:
    return make_clone(remote, "ann")


@pytest.fixture
def bob(remote: Repo) -> Clone:
    return make_clone(remote, "bob")
