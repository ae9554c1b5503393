"""The encoder of queries for an index: that of the provider that made it, and what happens if it does not answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gitmem.embedding import bundled
from gitmem.embedding.encoder import Encoder
from gitmem.embedding.encoders import load
from gitmem.embedding.provider import selected_provider
from gitmem.errors import ProviderFailed
from gitmem.indexing.fingerprint import dimensions_of
from gitmem.settings import Settings

if TYPE_CHECKING:
    from gitmem.search.engine import SearchResult


def query_encoder(settings: Settings, fingerprint: str, loaded: Encoder | None = None) -> Encoder:
    """Return the encoder for an index with a fingerprint. `loaded` is the bundled one if a server has it open.

    Raises: ConfigError, and ProviderFailed if a local model cannot be loaded.
    """
    provider = selected_provider(settings)
    if provider.is_bundled:
        return loaded or bundled.BundledEncoder()
    return load(provider, dimensions_of(fingerprint))


def search_or_words(mode: str, run: "Callable[[str], SearchResult]") -> "SearchResult":
    """Run a search in a mode. If the provider fails, search by words alone, with a note.

    Raises ProviderFailed in mode `semantic`.
    """
    try:
        return run(mode)
    except ProviderFailed as problem:
        if mode == "semantic":
            raise
        failure = problem.message
    # Words find most of what a query means, and an answer that says so is better than none.
    return run("lexical")._replace(notes=(f"{failure}; the results are by words alone",))
