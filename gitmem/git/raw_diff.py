"""Parser for `--raw -z` of `git diff-tree` and `git log`, over two trees or many commits."""

from collections.abc import Iterator
from typing import Final, NamedTuple

_SUBMODULE: Final = b"160000"
_COMBINED: Final = b"::"
_OLD_AND_NEW: Final = 2
"""Number of blobs of a change, except in the combined format."""


class RawChange(NamedTuple):
    """Path that a commit changed, its blob before and after, and git's status letter.

    `old_path` differs from `path` if the file was renamed or copied.
    """

    path: bytes
    before: str
    after: str
    status: bytes
    old_path: bytes
    is_submodule: bool = False


class RawCommit(NamedTuple):
    """Fields of the output format, and the changed paths."""

    fields: tuple[str, ...]
    changes: list[RawChange]


def parse_raw_commits(output: bytes, count: int = 3) -> Iterator[RawCommit]:
    """Parse the output of a format with so many fields; without any, all changes belong to one commit.

    With `-m`, a merge appears once for each parent. In the combined format, it appears once, with a change for each
    parent.
    """
    # Fields end with NUL: those of the format, then two for each path, or three if it was renamed. The first of them
    # begins with a colon, as the subject of a commit may, so the fields of the format are counted.
    fields = output.split(b"\0")[:-1]
    at = 0
    while at < len(fields):
        # `git log` ends the changes of a commit with one more NUL.
        if count and not fields[at].strip(b"\n"):
            at += 1
            continue
        texts = tuple(field.strip(b"\n").decode("utf-8", "replace") for field in fields[at : at + count])
        at += count
        # The combined format has a NUL instead of the line feed before the changes.
        if count and any(field.startswith(_COMBINED) for field in fields[at + 1 : at + 2]) and not fields[at]:
            at += 1
        changes = []
        while at < len(fields) and fields[at].lstrip(b"\n").startswith(b":"):
            *values, status = fields[at].lstrip(b"\n:").split(b" ")
            # A merge in the combined format has a mode and a blob for each parent, and never a former path.
            modes, ids = values[: len(values) // 2], [value.decode("ascii") for value in values[len(values) // 2 :]]
            renamed = status[:1] in b"RC" and len(ids) == _OLD_AND_NEW
            old_path, path = fields[at + 1], fields[at + 2 if renamed else at + 1]
            changes += [RawChange(path, old, ids[-1], status, old_path, _SUBMODULE in modes) for old in ids[:-1]]
            at += 3 if renamed else 2
        yield RawCommit(texts, changes)
