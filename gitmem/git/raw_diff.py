"""Parser for `--raw -z` of `git diff-tree` and `git log`, over two trees or many commits."""

from collections.abc import Generator, Iterator
from typing import IO, Final

from gitmem.named_tuple import NamedTuple

_SUBMODULE: Final = b"160000"
_COMBINED: Final = b"::"
_OLD_AND_NEW: Final = 2
"""Number of blobs of a change, except in the combined format."""

_BLOCK: Final = 1 << 18
"""Bytes that are read at once from a stream."""


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
    yield from _parse_fields(output.split(b"\0")[:-1], count, is_last=True)


def parse_raw_stream(stream: IO[bytes], count: int = 3) -> Iterator[RawCommit]:
    """Parse as `parse_raw_commits` does while git writes: the output for a long history is larger than the result."""
    fields: list[bytes] = []
    rest, size = b"", _BLOCK
    while block := stream.read(size):
        *complete, rest = (rest + block).split(b"\0")
        fields += complete
        end = yield from _parse_fields(fields, count, is_last=False)
        del fields[:end]
        # A commit of many files is parsed again from its start: blocks that grow keep that cost linear.
        size = _BLOCK if end else 2 * size
    yield from _parse_fields(fields, count, is_last=True)


def _parse_fields(fields: list[bytes], count: int, *, is_last: bool) -> Generator[RawCommit, None, int]:
    """Yield the commits in some fields, and return how many fields they take; unless `is_last`, only complete ones."""
    at = 0
    while at < len(fields):
        # `git log` ends the changes of a commit with one more NUL.
        if count and not fields[at].strip(b"\n"):
            at += 1
            continue
        try:
            commit, end = _parse_commit(fields, at, count)
        except IndexError:
            if is_last:
                raise
            return at
        # The next field decides whether a commit ends, and in the combined format the one behind that.
        if not is_last and end + 1 >= len(fields):
            return at
        yield commit
        at = end
    return at


def _parse_commit(fields: list[bytes], at: int, count: int) -> tuple[RawCommit, int]:
    """Return the commit that begins at a field, and where it ends. Raises IndexError if fields are missing."""
    # Fields end with NUL: those of the format, then two for each path, or three if it was renamed. The first of them
    # begins with a colon, as the subject of a commit may, so the fields of the format are counted.
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
    return RawCommit(texts, changes), at
