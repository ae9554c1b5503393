"""Decide from its content whether a blob has text worth indexing. Pure."""

import re
from codecs import BOM_UTF8
from typing import Final

_SNIFFED_BYTES: Final = 8192
"""Length of the prefix in which a NUL byte marks binary content; git looks at 8000 bytes in the same way."""

_LFS_HEAD: Final = b"version https://git-lfs.github.com/spec/v1"
_LFS_MAX_BYTES: Final = 1024
_MINIFIED_LANGUAGES: Final = frozenset({"javascript", "typescript", "css", "json", "html", "xml", "svg"})
_MINIFIED_MIN_BYTES: Final = 4096
_LONG_LINE: Final = 1000
_MINIFIED_SHARE: Final = 0.9
_DRAWING_MIN_BYTES: Final = 4096
_DRAWING_HEAD: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?[^>]*>|<!--(?s:.*?)-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\][^>]*)?>)*+<svg[\s>]"
)
"""Beginning of an SVG file, behind declarations and comments."""

_ASSET_ENTRY: Final = re.compile(
    rb"fileFormatVersion: \d+\r?\nguid: [0-9a-f]{32}\b|uid://\w+\s*\Z|\s*\[remap\]\s+importer="
)
"""Beginning of the files that Unity (`*.meta`) and Godot (`*.uid`, `*.import`) write beside each file."""


def skip_reason(content: bytes, language: str) -> str:
    """Return why a blob gets no chunks, as an outcome of `store.columns.OUTCOMES`; "" if it gets some."""
    if b"\0" in content[:_SNIFFED_BYTES]:
        return "binary"
    if not content.removeprefix(BOM_UTF8).strip():
        return "empty"
    if len(content) < _LFS_MAX_BYTES and content.startswith(_LFS_HEAD):
        return "lfs"
    if is_minified(content, language):
        return "minified"
    if _ASSET_ENTRY.match(content):
        return "generated"
    return "drawing" if is_drawing(content, language) else ""


def is_drawing(content: bytes, language: str) -> bool:
    """Return whether a blob is an SVG picture of more than a few shapes: programs write those."""
    if language not in ("xml", "svg") or len(content) < _DRAWING_MIN_BYTES:
        return False
    return _DRAWING_HEAD.match(content, 0, _SNIFFED_BYTES) is not None


def is_minified(content: bytes, language: str) -> bool:
    """Return whether more than nine tenths of a blob are in lines that are too long to be written by hand."""
    if language not in _MINIFIED_LANGUAGES or len(content) < _MINIFIED_MIN_BYTES:
        return False
    long = sum(len(line) for line in content.split(b"\n") if len(line) > _LONG_LINE)
    return long > _MINIFIED_SHARE * len(content)
