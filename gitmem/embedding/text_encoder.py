"""Encoders of providers that read text: a transformer in this process, or a remote model.

A query embeds one text. A run embeds many, in requests of `BATCH_TEXTS`. It may be stopped between two requests, and
learns when a provider makes it wait.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.bundled import BundledEncoder
from gitmem.embedding.encoder import Encoder
from gitmem.embedding.provider import Provider
from gitmem.errors import ProviderFailed
from gitmem.events import measured
from gitmem.named_tuple import NamedTuple
from gitmem.words import Text

BATCH_TEXTS: Final = 100
"""Largest number of texts in one request."""

MAX_DIMENSIONS: Final = 4096
"""Longest vectors that an index takes: one fits into a block of a file."""

_KEPT_QUERIES: Final = 256
"""Queries and parts of queries whose vectors a process keeps."""

_PROBE: Final = "dimensions"
"""Text that is embedded to learn the length of a provider's vectors, and whether it answers."""

Vectors = NDArray[np.float32]


class Patience(NamedTuple):
    """How long a request may take, how often it is repeated after a passing failure, and after which wait at most.

    `failures` is the number of failed requests in a row that end a run: the next one would fail too. With `divides` a
    request that took too long is not repeated as it was, but raises ProviderSlow: the caller sends fewer texts.
    """

    retries: int
    timeout: float
    max_wait: float
    failures: int = 1
    divides: bool = False


RUN_PATIENCE: Final = Patience(retries=3, timeout=30.0, max_wait=600.0, failures=2, divides=True)
QUERY_PATIENCE: Final = Patience(retries=1, timeout=10.0, max_wait=2.0)
"""Somebody waits for the answer of a query, and gets one by words if the provider does not answer."""

HEAL_PATIENCE: Final = Patience(retries=0, timeout=10.0, max_wait=0.0)
"""Somebody waits for an answer before which some files are indexed. The background tries again, with more patience."""


class Watch(Protocol):
    """Called while a run waits, with a reason or "". Raises Cancelled if the run was stopped."""

    def __call__(self, reason: str = "", /) -> None: ...


def ignore(reason: str = "") -> None:
    """Watch nothing."""


class Model(Protocol):
    """Model that maps texts to raw vectors, in their order."""

    def embed(self, texts: Sequence[str], patience: Patience, watch: Watch, /) -> Vectors:
        """Return float32 [texts, dimensions], of any length.

        Raises: ProviderFailed, TextsRefused, ProviderSlow, Cancelled.
        """


class TextEncoder:
    """Encoder of a provider: adds prefixes, cuts vectors to the selected length, and scales them to unit length."""

    def __init__(self, provider: Provider, model: Model, dimensions: int = 0) -> None:
        self.provider = provider
        self.fingerprint = provider.fingerprint
        self._model = model
        self._dimensions = dimensions
        self._queries: dict[str, Vectors | None] = {}

    @property
    def dimensions(self) -> int:
        """Length of the vectors. The provider is asked if it is not known yet. Raises ProviderFailed."""
        return self.learn_dimensions(ignore)

    def learn_dimensions(self, watch: Watch) -> int:
        """Return the length of the vectors; ask the provider if it is not known yet.

        Raises: ProviderFailed, and Cancelled from `watch`.
        """
        if not self._dimensions:
            self.encode_passages([_PROBE], watch)
        return self._dimensions

    def probe(self) -> int:
        """Embed one word, even if its vector is known; return the length of the vector. Raises ProviderFailed."""
        return int(self._embed([_PROBE], QUERY_PATIENCE, ignore).shape[1])

    def encode_passages(
        self, texts: Sequence[str], watch: Watch = ignore, patience: Patience = RUN_PATIENCE
    ) -> Vectors:
        """Embed at most `BATCH_TEXTS` chunks. Raises: ProviderFailed, TextsRefused, ProviderSlow, Cancelled."""
        prefix = self.provider.passage_prefix
        return self._embed([prefix + text for text in texts], patience, watch)

    def encode_query(self, text: Text) -> Vectors:
        """Embed one query. Raises ProviderFailed."""
        vector: Vectors = self.encode_names([text])[0]
        return vector

    def encode_names(self, texts: Sequence[Text]) -> Vectors:
        """Embed the parts of a query. The last ones are kept: records and files are searched one after the other.

        Raises ProviderFailed.
        """
        known = {text.text: self._queries.get(text.text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        for start in range(0, len(new), BATCH_TEXTS):
            batch = new[start : start + BATCH_TEXTS]
            known |= zip(batch, self._embed_query(batch), strict=True)
        if new:
            self._queries = {**(self._queries if len(self._queries) < _KEPT_QUERIES else {}), **known}
        return np.array([known[text.text] for text in texts], np.float32)

    def _embed_query(self, texts: Sequence[str]) -> Vectors:
        # Counted for the repository that is being searched: users pay for each request.
        with measured("embedding.query") as operation:
            operation.ids["model"] = self.fingerprint
            operation.amounts["texts"] = len(texts)
            return self._embed([self.provider.query_prefix + text for text in texts], QUERY_PATIENCE, ignore)

    @cached_property
    def names(self) -> Encoder:
        """Encoder by which paths are compared with a query.

        The bundled one: a query compares 48 paths, which would cost more than the query, and send them away.
        """
        return BundledEncoder()

    def _embed(self, texts: Sequence[str], patience: Patience, watch: Watch) -> Vectors:
        # Here all providers meet: one check of the length serves every format.
        vectors = self._model.embed(texts, patience, watch)
        wanted = self.provider.dimensions or self._dimensions or vectors.shape[1]
        if vectors.shape[1] < wanted or (vectors.shape[1] > wanted and not self.provider.dimensions):
            raise ProviderFailed(
                f"{describe(self.provider)} gives vectors of {vectors.shape[1]} dimensions, expected {wanted}",
                hint="set gitmem.dimensions, or run `gitmem index --full`",
            )
        if wanted > MAX_DIMENSIONS:
            raise ProviderFailed(
                f"{describe(self.provider)} gives vectors of {wanted:,} dimensions, at most {MAX_DIMENSIONS:,} are "
                "possible",
                hint=f"git config --global gitmem.dimensions {MAX_DIMENSIONS}",
            )
        # Models that are trained for it (Matryoshka) keep most of their meaning in the first dimensions.
        vectors = vectors[:, :wanted].astype(np.float64)  # the squares of large numbers exceed float32
        self._dimensions = wanted
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        scaled: Vectors = (vectors / np.maximum(lengths, 1e-12)[:, None]).astype(np.float32)
        return scaled


def describe(provider: Provider) -> str:
    """Return a provider and its model for a message."""
    return f"the provider `{provider.name}` with the model `{provider.model}`"
