"""Tell whether a query may quote code or a message, as it is written somewhere. Pure."""

import re
from functools import lru_cache
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple
from gitmem.search.stop_words import content_words
from gitmem.words import find_identifiers

_MIN_CODE_WORDS: Final = 2
_MIN_MESSAGE_WORDS: Final = 4
"""Fewest words of a line of code, and of a message, stop words apart."""

_CODE: Final = lazy_pattern(r"\w\(|[{}\[\]=<>|\\]|;$|->|\w::\w")
"""Signs that prose hardly has. It has names in code, calls without arguments among them."""


class Quotation(NamedTuple):
    """Text that a query may quote, and whether it is certainly code rather than a message or an ordinary phrase."""

    text: str
    is_code: bool

    def is_in(self, data: bytes, start: int, end: int) -> bool:
        """Return whether a part of a text has the quotation: whole words, with any space between them."""
        return _pattern(self.text).search(data, start, end) is not None


@lru_cache(maxsize=64)
def _pattern(text: str) -> re.Pattern[bytes]:
    source = rb"\s+".join(re.escape(word.encode("utf-8", "replace")) for word in text.split())
    before = rb"(?<!\w)" if text[0].isalnum() else b""
    behind = rb"(?!\w)" if text[-1].isalnum() else b""
    return re.compile(before + source + behind)


def find_quotation(query: str) -> Quotation | None:
    """Return the text that a query of one line may quote; None if it is too short for that."""
    text = query[1:-1].strip() if len(query) > 2 and query[0] == query[-1] and query[0] in "`'\"" else query
    is_code = _CODE.search(text) is not None
    if is_code:
        return Quotation(text, is_code) if len(find_identifiers(text)) >= _MIN_CODE_WORDS else None
    return Quotation(text, is_code) if len(content_words(text)) >= _MIN_MESSAGE_WORDS else None
