"""Load the encoder of a provider that is not bundled. The libraries for one are imported only then."""

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from gitmem.embedding.provider import ONNX, Provider

if TYPE_CHECKING:
    from gitmem.embedding.text_encoder import TextEncoder

_OPEN_MODELS: Final = 2
"""Encoders that a process keeps open: a server may hold repositories of two models."""


def load(provider: Provider, dimensions: int = 0) -> "TextEncoder":
    """Return an encoder, once for all users in this process. `dimensions` are those of its vectors, 0 if unknown.

    Raises: ConfigError, ProviderFailed.
    """
    return _load(provider, provider.fingerprint, dimensions)


@lru_cache(maxsize=_OPEN_MODELS)
def _load(provider: Provider, _fingerprint: str, dimensions: int) -> "TextEncoder":
    # A server must not go on with a model whose files have been replaced, so the fingerprint is part of the key.
    from gitmem.embedding.text_encoder import TextEncoder

    if provider.name == ONNX:
        from gitmem.embedding.onnx_model import OnnxModel

        return TextEncoder(provider, OnnxModel(provider), dimensions)
    from gitmem.embedding.remote_model import RemoteModel

    return TextEncoder(provider, RemoteModel(provider), dimensions)
