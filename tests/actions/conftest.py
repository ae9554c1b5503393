"""Isolation, the sample repository and the command line for these tests."""

from tests.indexes import blobs_read, fake_model
from tests.sample import _indexed, _isolated, cli, indexed, own

__all__ = ["_indexed", "_isolated", "blobs_read", "cli", "fake_model", "indexed", "own"]
