"""Names for everything that an index depends on; cheap enough to compute before anything heavy is imported."""

import hashlib
from typing import TYPE_CHECKING, Final

from gitmem.chunking import CHUNKER_VERSION
from gitmem.content_rules import NO_RULES, ContentRules
from gitmem.embedding.card import Card
from gitmem.paths import bundled
from gitmem.secrets.version import SECRETS_VERSION
from gitmem.settings import Settings
from gitmem.store.columns import SCHEMA_VERSION

if TYPE_CHECKING:
    from gitmem.chunking.chunk_size import ChunkBounds

WORDS_VERSION: Final = 2
"""Version of `gitmem.words`: increase it when the terms of any text change."""

RULES_VERSION: Final = 4
"""Version of the rules that select and classify paths: increase it when any tree would get another view."""


_DEFAULT_SIZES: Final = (Settings().chunk_max_bytes, Settings().chunk_overlap_bytes)


def current_fingerprint(settings: Settings) -> str:
    """Return a name for everything that a row depends on besides its blob and language."""
    sizes = (settings.chunk_max_bytes, settings.chunk_overlap_bytes)
    # Indexes from before these settings have the default sizes and stay valid.
    chunker = f"{CHUNKER_VERSION}" + (f"-{sizes[0]}-{sizes[1]}" if sizes != _DEFAULT_SIZES else "")
    # The size limit is part of it because blobs are recorded as too large, and a higher limit must index them.
    versions = f"{chunker}.{WORDS_VERSION}.{settings.max_file_bytes}.{SECRETS_VERSION}.{SCHEMA_VERSION}"
    return f"{versions}.{model_fingerprint()}"


def chunk_bounds(settings: Settings) -> "ChunkBounds":
    """Return the sizes of chunks."""
    from gitmem.chunking.chunk_size import bounds_for  # a run with nothing to do does without them

    return bounds_for(settings.chunk_max_bytes, settings.chunk_overlap_bytes)


def model_fingerprint() -> str:
    """Return a name for the model in use: its weights and the preparation of texts for it."""
    return Card(bundled("models")).fingerprint


def gives_equal_vectors(fingerprint: str, other: str) -> bool:
    """Return whether equal texts have equal vectors, and segments an equal schema, under both fingerprints.

    Chunker, limits and the rules for secrets decide which texts there are, not what their vectors are.
    """
    one, two = ([fields[1:2], fields[4:]] for fields in (fingerprint.split("."), other.split(".")))
    return one == two and len(one[1]) == len(("schema", "model"))


def model_of(fingerprint: str) -> str:
    """Return the name of the model in an index's fingerprint. It comes last and has no dot."""
    return fingerprint.rpartition(".")[2]


def view_key(tree: str, rules: ContentRules = NO_RULES) -> str:
    """Return the file name of a tree's view under the user's rules."""
    name = f"{tree}:{RULES_VERSION}:{WORDS_VERSION}:{rules.key}".removesuffix(":")
    return hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()
