"""Names in single files, as chunking records them."""

from gitmem.chunking.chunk import chunk_blob
from gitmem.types import OCCURRENCE_KINDS


def names_of(text: str, language: str, *kinds: str) -> list[str]:
    """Return the names of some kinds in a file, with their receivers, in the order of the text."""
    names = chunk_blob(text.encode(), language).names
    return [
        (receiver + b"." + name if receiver else name).decode()
        for kind, name, receiver in zip(names.kinds, names.names, names.receivers, strict=True)
        if OCCURRENCE_KINDS[kind] in kinds
    ]
