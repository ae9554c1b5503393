"""Paths as git knows them, bytes, and as people read them, text. The two convert without loss."""


def path_text(path: bytes) -> str:
    """Path as text; bytes that are no UTF-8 become lone surrogates, which `path_bytes` turns back."""
    return path.decode("utf-8", "surrogateescape")


def path_bytes(text: str) -> bytes:
    """Path as git stores it, from what `path_text` made."""
    return text.encode("utf-8", "surrogateescape")
