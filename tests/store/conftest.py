"""Isolation for the tests of the store."""

from tests.sample import _isolated

__all__ = ["_isolated"]
