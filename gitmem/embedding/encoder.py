"""Interface of embedding models, and the quantisation of their vectors."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np

from gitmem.arrays import NDArray
from gitmem.identifier_counts import Bags
from gitmem.named_tuple import NamedTuple
from gitmem.words import Text

STEP_TEXTS: Final = 10
"""Number of texts that are embedded at most between two looks at a request to stop."""


class Embeddings(NamedTuple):
    """`vectors` float32 [n, dimensions], of unit length or zero for a text without words; `norms` float32 [n].

    The norms are the lengths before normalisation.
    """

    vectors: NDArray[np.float32]
    norms: NDArray[np.float32]


class Encoder(Protocol):
    """Maps texts to vectors. Encoders with the same fingerprint give the same vectors for the same text."""

    @property
    def fingerprint(self) -> str:
        """Identifier of model, weights and text preparation. Vectors with different fingerprints are never compared."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def names(self) -> "Encoder":
        """Encoder by which many paths are compared with a query: this one, or a cheaper one."""

    def encode_query(self, text: Text) -> NDArray[np.float32]:
        """Embed one query, float32 [dimensions], with as little start-up as possible."""

    def encode_names(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Embed some short texts in the same way as a query, float32 [n, dimensions]."""


class BagEncoder(Encoder, Protocol):
    """Encoder that embeds the counted identifiers of a text, so that it needs no second look at the text."""

    def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        """Embed many texts, in their order. `before_step` is called before each `STEP_TEXTS` texts and may raise."""


class Quantised(NamedTuple):
    """`vectors` int8 [n, dimensions] and `scales` float32 [n]: a vector is approximately int8 * scale."""

    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]


def quantise(vectors: NDArray[np.float32]) -> Quantised:
    """Quantise each vector to int8 with a scale of its own, so that its largest component becomes 127.

    Symmetric scalar quantisation without zero point: the error of a component is at most half a scale.
    """
    # One scale for all vectors would waste most of the 255 levels on vectors of even components.
    scales = np.abs(vectors).max(axis=1, initial=0.0) / 127
    safe = np.where(scales > 0, scales, 1.0)[:, None]
    return Quantised(np.rint(vectors / safe).astype(np.int8), scales.astype(np.float32))
