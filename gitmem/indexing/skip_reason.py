"""Which blobs hold no text worth indexing, judged by their bytes alone. Pure."""

from typing import Final

_SNIFFED: Final = 8192
_LFS: Final = b"version https://git-lfs.github.com/spec/v1"
_LFS_LIMIT: Final = 1024
_MINIFIED: Final = frozenset({"javascript", "typescript", "css", "json", "html", "xml", "svg"})
_MINIFIED_LEAST: Final = 4096
_LONG_LINE: Final = 1000


def skip_reason(data: bytes, language: str) -> str:
    """Why a blob gives no chunks (an outcome of the store), empty where it does."""
    if b"\0" in data[:_SNIFFED]:
        return "binary"
    if not data.strip():
        return "empty"
    if len(data) < _LFS_LIMIT and data.startswith(_LFS):
        return "lfs"
    return "minified" if is_minified(data, language) else ""


def is_minified(data: bytes, language: str) -> bool:
    """Nearly all of it stands in lines nobody wrote by hand."""
    if language not in _MINIFIED or len(data) < _MINIFIED_LEAST:
        return False
    long = sum(len(line) for line in data.split(b"\n") if len(line) > _LONG_LINE)
    return long > 0.9 * len(data)
