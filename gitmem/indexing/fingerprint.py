"""Names for everything that an index depends on; cheap enough to compute before anything heavy is imported."""

import hashlib
from typing import Final

from gitmem.chunking import CHUNKER_VERSION
from gitmem.embedding.card import Card
from gitmem.paths import bundled
from gitmem.secrets.version import SECRETS_VERSION
from gitmem.store.columns import SCHEMA_VERSION

WORDS_VERSION: Final = 2
"""Version of `gitmem.words`: increase it when the terms of any text change."""

RULES_VERSION: Final = 4
"""Version of the rules that select and classify paths: increase it when any tree would get another view."""


def current_fingerprint(max_file_bytes: int) -> str:
    """Return a name for everything that a row depends on besides its blob and language."""
    # The size limit is part of it because blobs are recorded as too large, and a higher limit must index them.
    versions = f"{CHUNKER_VERSION}.{WORDS_VERSION}.{max_file_bytes}.{SECRETS_VERSION}.{SCHEMA_VERSION}"
    return f"{versions}.{model_fingerprint()}"


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


def view_key(tree: str) -> str:
    """Return the file name of a tree's view."""
    return hashlib.blake2b(f"{tree}:{RULES_VERSION}:{WORDS_VERSION}".encode(), digest_size=20).hexdigest()
