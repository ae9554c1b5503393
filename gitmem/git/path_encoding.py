"""Lossless conversion between paths in git, which are bytes, and paths in messages and output, which are text."""


def path_text(path: bytes) -> str:
    """Decode a path; bytes that are not valid UTF-8 become lone surrogates, which `path_bytes` restores."""
    return path.decode("utf-8", "surrogateescape")


def path_bytes(text: str) -> bytes:
    """Encode a path that `path_text` decoded."""
    return text.encode("utf-8", "surrogateescape")


def queried_path(text: str) -> bytes:
    """Encode a path of a query like `path_bytes`; text that no path can have becomes a NUL byte."""
    try:
        return path_bytes(text)
    except UnicodeEncodeError:  # a lone surrogate, from an escape in JSON
        return b"\0"
