"""What every embedding model offers, and how its vectors are quantised for storage."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gitmem.words import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embeddings(NamedTuple):
    """`vectors` float32 [n, dimensions] of unit length (zeros for a text without words), `norms` float32 [n]."""

    vectors: "NDArray[np.float32]"
    norms: "NDArray[np.float32]"


class Encoder(Protocol):
    """Maps texts to vectors. Two encoders with one fingerprint give the same vectors for the same text."""

    @property
    def fingerprint(self) -> str:
        """Names model, weights and text preparation; vectors of different fingerprints are never compared."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[Text]) -> Embeddings:
        """Embed many texts, in their order."""

    def encode_query(self, text: Text) -> "NDArray[np.float32]":
        """Embed one question, float32 [dimensions], with as little start-up as possible."""

    def encode_names(self, texts: Sequence[Text]) -> "NDArray[np.float32]":
        """Embed some short texts like a question, float32 [n, dimensions]."""


class Quantised(NamedTuple):
    """`vectors` int8 [n, dimensions]; `scales` float32 [n]: a vector is about int8 * scale."""

    vectors: "NDArray[np.int8]"
    scales: "NDArray[np.float32]"


def quantise(vectors: "NDArray[np.float32]") -> Quantised:
    """Round each vector to int8 by its own largest component."""
    import numpy as np

    scales = np.abs(vectors).max(axis=1, initial=0.0) / 127
    safe = np.where(scales > 0, scales, 1.0)[:, None]
    return Quantised(np.rint(vectors / safe).astype(np.int8), scales.astype(np.float32))
