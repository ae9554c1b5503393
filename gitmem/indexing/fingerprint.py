"""Names for everything that an index depends on; cheap enough to compute before anything heavy is imported."""

import hashlib
from typing import TYPE_CHECKING, Final

from gitmem.chunking import CHUNKER_VERSION
from gitmem.content_rules import NO_RULES, ContentRules
from gitmem.embedding.provider import model_fingerprint
from gitmem.secrets.version import SECRETS_VERSION
from gitmem.settings import Settings
from gitmem.store.columns import SCHEMA_VERSION

if TYPE_CHECKING:
    from gitmem.chunking.chunk_size import ChunkBounds

WORDS_VERSION: Final = 3
"""Version of `gitmem.words`: increase it when the terms of any text change."""

RULES_VERSION: Final = 8
"""Version of the rules that select and classify paths: increase it when any tree would get another view."""


_MODEL_FIELD: Final = 5
"""Number of fields of a fingerprint before that of the model, which alone may have dots."""

_DIMENSIONS: Final = "+"
"""Mark before the dimensions at the end of a fingerprint."""

_DEFAULT_SIZES: Final = (Settings().chunk_max_bytes, Settings().chunk_overlap_bytes)


def current_fingerprint(settings: Settings) -> str:
    """Return a name for everything that a row depends on besides its blob and language."""
    sizes = (settings.chunk_max_bytes, settings.chunk_overlap_bytes)
    # Indexes from before these settings have the default sizes and stay valid.
    chunker = f"{CHUNKER_VERSION}" + (f"-{sizes[0]}-{sizes[1]}" if sizes != _DEFAULT_SIZES else "")
    # The size limit is part of it because blobs are recorded as too large, and a higher limit must index them.
    versions = f"{chunker}.{WORDS_VERSION}.{settings.max_file_bytes}.{SECRETS_VERSION}.{SCHEMA_VERSION}"
    return f"{versions}.{model_fingerprint(settings)}"


def is_made_with(fingerprint: str, settings: Settings) -> bool:
    """Return whether an index of this fingerprint is what a run with these settings would make."""
    return _split_dimensions(fingerprint)[0] == current_fingerprint(settings)


def with_dimensions(fingerprint: str, dimensions: int) -> str:
    """Return the fingerprint of an index whose provider gives vectors of this length; 0 changes nothing.

    The length is unknown until a provider has answered, so only fingerprints in manifests have it.
    """
    return f"{fingerprint}{_DIMENSIONS}{dimensions}" if dimensions else fingerprint


def dimensions_of(fingerprint: str) -> int:
    """Return the length of vectors in a fingerprint, 0 if it has none: that of the bundled model has none."""
    return _split_dimensions(fingerprint)[1]


def _split_dimensions(fingerprint: str) -> tuple[str, int]:
    base, mark, digits = fingerprint.rpartition(_DIMENSIONS)
    return (base, int(digits)) if mark and digits.isdecimal() else (fingerprint, 0)


def differs_in_model_only(fingerprint: str, other: str) -> bool:
    """Return whether two indexes differ in the model alone, so that both can be searched, each with its own."""
    one, two = (fields.split(".", _MODEL_FIELD) for fields in (fingerprint, other))
    return fingerprint != other and len(one) == len(two) == _MODEL_FIELD + 1 and one[:-1] == two[:-1]


def chunk_bounds(settings: Settings) -> "ChunkBounds":
    """Return the sizes of chunks."""
    from gitmem.chunking.chunk_size import bounds_for  # a run with nothing to do does without them

    return bounds_for(settings.chunk_max_bytes, settings.chunk_overlap_bytes)


def gives_equal_vectors(fingerprint: str, other: str) -> bool:
    """Return whether equal texts have equal vectors, and segments an equal schema, under both fingerprints.

    Chunker, limits and the rules for secrets decide which texts there are, not what their vectors are.
    """
    one, two = (
        [fields[1:2], fields[4:]] for fields in (text.split(".", _MODEL_FIELD) for text in (fingerprint, other))
    )
    return one == two and len(one[1]) == len(("schema", "model"))


def model_of(fingerprint: str) -> str:
    """Return the name of the model in an index's fingerprint, without the dimensions. It comes last."""
    return _split_dimensions(fingerprint)[0].split(".", _MODEL_FIELD)[-1]


def vectors_of(fingerprint: str) -> str:
    """Return the name of the model with the dimensions: vectors of indexes with the same one can be compared."""
    return fingerprint.split(".", _MODEL_FIELD)[-1]


def view_key(tree: str, rules: ContentRules = NO_RULES) -> str:
    """Return the file name of a tree's view under the user's rules."""
    name = f"{tree}:{RULES_VERSION}:{WORDS_VERSION}:{rules.key}".removesuffix(":")
    return hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()
