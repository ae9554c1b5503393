"""Isolation and the fake model for the tests of indexing."""

from tests.indexes import fake_model
from tests.sample import _isolated

__all__ = ["_isolated", "fake_model"]
