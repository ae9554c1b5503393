"""Isolation and the sample repository for these tests."""

from tests.sample import _indexed, _isolated, cli, indexed, own

__all__ = ["_indexed", "_isolated", "cli", "indexed", "own"]
