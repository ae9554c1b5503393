"""Isolation and repositories for the tests of records."""

from tests.git.conftest import _isolated, make_repo
from tests.sample import cli

__all__ = ["_isolated", "cli", "make_repo"]
