"""Lines around a hit, for those who want to see more than the chunk."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gitmem.git.locate import Location
from gitmem.git.objects import open_reader
from gitmem.search.snippet import lines_of

if TYPE_CHECKING:
    from gitmem.search.hits import Hit


def read_around(
    location: Location, hits: "Sequence[Hit]", context: int, files: Mapping[str, bytes]
) -> list[tuple[list[str], list[str]]]:
    """For each hit at most `context` lines before and after it; none where its blob is gone. `files` are the paths of
    blobs that are perhaps only in the working tree."""
    with open_reader(location, bulk=False, files=files) as reader:
        data = dict(reader.read_many(dict.fromkeys(hit.blob for hit in hits)))
    return [_around(data.get(hit.blob) or b"", hit.start_line, hit.end_line, context) for hit in hits]


def _around(data: bytes, first: int, last: int, context: int) -> tuple[list[str], list[str]]:
    body = data.removesuffix(b"\n")
    return lines_of(body, max(1, first - context), first - 1), lines_of(body, last + 1, last + context)
