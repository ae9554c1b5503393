"""Find private keys by their headers (RFC 7468 and PuTTY). Pure."""

import re
from collections.abc import Iterator
from typing import Final

_KEY_HEADERS: Final = (b"PRIVATE KEY", b"PuTTY-User-Key-File-")
KEY_MARKS: Final = (b"PRIVATE", b"PuTTY-U")
"""Parts of the headers that hardly any other text has."""

_KEY_HEADER: Final = rb"BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?|PuTTY-User-Key-File-\d"
_KEY_BOUNDARY: Final = rb"(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY"
_MAX_KEY_BYTES: Final = 20_000
"""Maximum length of a private key. One of 16,384 bits has 13,000 bytes."""

_ENCODED_LENGTH: Final = 32
_ENCODED: Final = rb"[A-Za-z0-9+/=]{%d,}" % _ENCODED_LENGTH
# Does not match the letter of an escaped line end (`\n`): masking it would invalidate the string literal.
_ENCODED_PIECE: Final = rb"(?:(?<!\\)|(?<=\\[nr]))[A-Za-z0-9+/=]{2,}"
_VISIBLE: Final = rb"[!-~]"

Span = tuple[int, int]


def contains_key_header(data: bytes) -> bool:
    """Return whether a text may have a private key. Cheap."""
    return any(header in data for header in _KEY_HEADERS)


def find_private_keys(data: bytes) -> Iterator[Span]:
    """Yield the spans of the encoded lines of private keys.

    A header whose following text is mostly not encoded is skipped: that is code which reads keys.
    """
    if not contains_key_header(data):
        return
    # Compiled here, by `re`'s cache: few texts have a key, and every query would wait for it.
    for header in re.finditer(_KEY_HEADER, data):
        limit = header.end() + _MAX_KEY_BYTES
        body = data[header.end() : limit]
        boundary = re.search(_KEY_BOUNDARY, body)
        body = body[: boundary.start()] if boundary else body
        if 2 * sum(map(len, re.findall(_ENCODED, body))) >= len(re.findall(_VISIBLE, body)):
            for piece in re.finditer(_ENCODED_PIECE, body):
                yield header.end() + piece.start(), header.end() + piece.end()
