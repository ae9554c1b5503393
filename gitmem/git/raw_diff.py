"""Parser for the output of `git diff-tree --stdin --raw -z` over many commits."""

from collections.abc import Iterator
from typing import NamedTuple


class RawChange(NamedTuple):
    """Path that a commit changed, its blob before and after, and git's status letter."""

    path: bytes
    before: str
    after: str
    status: bytes


class RawCommit(NamedTuple):
    """Three fields of the output format, and the changed paths."""

    fields: tuple[str, str, str]
    changes: list[RawChange]


def parse_raw_commits(output: bytes) -> Iterator[RawCommit]:
    """Parse the output of a format with three fields."""
    # Fields end with NUL: the three of the format, then two for each path, the first of which begins with a colon.
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
