"""Reads what `git diff-tree --stdin --raw -z` says of many commits."""

from collections.abc import Iterator
from typing import NamedTuple


class RawChange(NamedTuple):
    """A path that a commit changed, its blob before and after, and git's letter for what happened to it."""

    path: bytes
    before: str
    after: str
    status: bytes


class RawCommit(NamedTuple):
    """The three fields that the format asked for, and the changed paths."""

    fields: tuple[str, str, str]
    changes: list[RawChange]


def parse_raw_commits(output: bytes) -> Iterator[RawCommit]:
    """Fields end with NUL: the three of the format, then a pair for each path, whose first begins with a colon."""
    fields = output.split(b"\0")[:-1]
    at = 0
    while at < len(fields):
        first, second, third = (field.strip(b"\n").decode("utf-8", "replace") for field in fields[at : at + 3])
        at += 3
        changes = []
        while at < len(fields) and fields[at].lstrip(b"\n").startswith(b":"):
            _, _, before, after, status = fields[at].split(b" ")
            changes.append(RawChange(fields[at + 1], before.decode("ascii"), after.decode("ascii"), status))
            at += 2
        yield RawCommit((first, second, third), changes)
