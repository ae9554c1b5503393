"""Fixtures of the tests of the server: shared repositories that are only read, and own ones that may change."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gitrepo import Repo
from tests.web.served import Served, serving


@pytest.fixture
def reading(indexed: Repo, tmp_path: Path) -> Iterator[Served]:
    """Serve the shared sample repository as `sample`."""
    with serving(tmp_path, {"sample": indexed.path}) as served:
        yield served


@pytest.fixture
def writing(own: Repo, tmp_path: Path) -> Iterator[Served]:
    """Serve a copy of the sample repository, which the test may change, as `sample`."""
    with serving(tmp_path, {"sample": own.path}) as served:
        yield served
