"""Lines before and after a hit, for `--context`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gitmem.chunking.blob_text import text_of
from gitmem.git.locate import RepositoryLocation
from gitmem.git.objects import open_reader
from gitmem.search.snippet import lines_of
from gitmem.secrets.masking import mask_secrets

if TYPE_CHECKING:
    from gitmem.search.hits import Hit


def read_context(
    location: RepositoryLocation, hits: "Sequence[Hit]", context: int, files: Mapping[str, bytes], *, mask: bool = False
) -> list[tuple[list[str], list[str]]]:
    """Return at most `context` lines before and after each hit, none if its blob no longer exists.

    `files` maps blobs that may exist only in the working tree to their paths. With `mask` secrets are dots.
    """
    with open_reader(location, bulk=False, files=files) as reader:
        data = dict(reader.read_many(dict.fromkeys(hit.blob for hit in hits)))
    texts = {hit.source: text_of(data.get(hit.blob) or b"", hit.language) for hit in hits}
    if mask:
        texts = {source: mask_secrets(text) for source, text in texts.items()}
    return [_context(texts[hit.source], hit.start_line, hit.end_line, context) for hit in hits]


def _context(data: bytes, first: int, last: int, context: int) -> tuple[list[str], list[str]]:
    # Without this a file that ends with a line feed would show an empty last line.
    body = data.removesuffix(b"\n")
    return lines_of(body, max(1, first - context), first - 1), lines_of(body, last + 1, last + context)
