"""What an index is made by: cheap enough to ask before anything heavy is imported."""

import hashlib
from typing import Final

from gitmem.chunking import CHUNKER_VERSION
from gitmem.embedding.card import Card
from gitmem.paths import bundled

WORDS_VERSION: Final = 1
"""Version of `gitmem.words`: bump when the terms of any text change."""

RULES_VERSION: Final = 2
"""Version of the rules for what is indexed: bump when the same tree would give another view."""


def current_fingerprint(max_file_bytes: int) -> str:
    """Names everything that a row depends on besides its blob and language."""
    return f"{CHUNKER_VERSION}.{WORDS_VERSION}.{max_file_bytes}.{model_fingerprint()}"


def model_fingerprint() -> str:
    """Names the model in use: its weights, and how a text is prepared for it."""
    return Card(bundled("models")).fingerprint


def view_key(tree: str) -> str:
    """The name of a tree's view file."""
    return hashlib.blake2b(f"{tree}:{RULES_VERSION}:{WORDS_VERSION}".encode(), digest_size=20).hexdigest()
