"""A run embeds all texts of its rows, also through a provider that is too slow for requests of a hundred."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gitmem.embedding.provider import OPENAI, Provider
from gitmem.embedding.text_encoder import Patience, TextEncoder, Vectors, Watch, ignore
from gitmem.errors import ProviderFailed, ProviderSlow
from gitmem.indexing.embedding_stage import EmbeddingStage
from gitmem.paths import IndexPaths
from tests.embedding.provider_server import vector_of
from tests.store.sample_rows import SampleBlob, SampleChunk, rows_of

DIMENSIONS = 48
BLOBS = [
    SampleBlob(b"%020d" % at, "python", "python", 0, [SampleChunk(0, 10, b"f%d" % at, {b"word%d" % at: 1}, {})])
    for at in range(100)
]
TEXTS = [b"text number %d" % at for at in range(100)]


class SlowModel:
    """Model that answers in time to at most `most` texts; `requests` are those that it got."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.requests: list[list[str]] = []

    def embed(self, texts: Sequence[str], _patience: Patience, _watch: Watch) -> Vectors:
        self.requests.append(list(texts))
        if len(texts) > self.most:
            failure = ProviderSlow if len(texts) > 1 else ProviderFailed
            raise failure("did not answer in time", is_passing=True)
        return np.array([vector_of(text, DIMENSIONS) for text in texts], np.float32)


def stage_of(model: SlowModel, folder: Path) -> EmbeddingStage:
    encoder = TextEncoder(Provider(OPENAI, "small", "http://127.0.0.1"), model, DIMENSIONS)
    return EmbeddingStage(encoder, IndexPaths(folder))


def test_a_slow_provider_gets_smaller_requests_from_then_on(tmp_path: Path) -> None:
    model = SlowModel(most=10)
    embedded = stage_of(model, tmp_path).complete(rows_of(BLOBS), TEXTS, ignore)
    assert [len(texts) for texts in model.requests] == [100, 25, 6, 6, 6, 6, 1, *[6] * 12, 3]
    assert [text for texts in model.requests[2:] for text in texts] == [text.decode() for text in TEXTS]
    assert not embedded.failed
    assert embedded.rows.vectors.any(axis=1).all()


def test_a_provider_that_never_answers_ends_the_run(tmp_path: Path) -> None:
    model = SlowModel(most=0)
    with pytest.raises(ProviderFailed, match="did not answer in time"):
        stage_of(model, tmp_path).complete(rows_of(BLOBS), TEXTS, ignore)
    assert [len(texts) for texts in model.requests] == [100, 25, 6, 1, 1]
