"""A run embeds all texts of its rows, also through a provider that is too slow for requests of a hundred."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.embedding.encoder import quantise
from gitmem.embedding.provider import OPENAI, Provider
from gitmem.embedding.text_encoder import Patience, TextEncoder, Vectors, Watch, ignore
from gitmem.errors import ProviderFailed, ProviderSlow
from gitmem.indexing.embedding_stage import EmbeddingStage
from gitmem.paths import IndexPaths
from gitmem.store.vector_levels import snap_to_levels
from tests.embedding.provider_server import vector_of
from tests.store.sample_rows import SampleBlob, SampleChunk, rows_of

DIMENSIONS = 48
MANY_BLOBS = [
    SampleBlob(b"%020d" % at, "python", "python", 0, [SampleChunk(0, 10, b"f%d" % at, {b"word%d" % at: 1}, {})])
    for at in range(300)
]
BLOBS = MANY_BLOBS[:100]
TEXTS = [b"text number %d" % at for at in range(300)]


class SlowModel:
    """Model that takes some seconds for each text, on a clock of its own; `requests` are those that it got."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.requests: list[list[str]] = []
        self.now = 0.0

    def embed(self, texts: Sequence[str], patience: Patience, _watch: Watch) -> Vectors:
        self.requests.append(list(texts))
        needed = len(texts) * self.seconds
        self.now += min(needed, patience.timeout)
        if needed > patience.timeout:
            failure = ProviderSlow if len(texts) > 1 else ProviderFailed
            raise failure("did not answer in time", is_passing=True)
        return np.array([vector_of(text, DIMENSIONS) for text in texts], np.float32)


class BusyModel(SlowModel):
    """Model that is slow for its first request only, because it has other work at that time."""

    def embed(self, texts: Sequence[str], patience: Patience, _watch: Watch) -> Vectors:
        self.seconds = 0.01 if self.requests else 1.0
        return super().embed(texts, patience, _watch)


def stage_of(model: SlowModel, folder: Path) -> EmbeddingStage:
    encoder = TextEncoder(Provider(OPENAI, "small", "http://127.0.0.1"), model, DIMENSIONS)
    return EmbeddingStage(encoder, IndexPaths(folder), clock=lambda: model.now)


def sizes_of(model: SlowModel) -> list[int]:
    return [len(texts) for texts in model.requests]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count=st.integers(0, len(TEXTS)), seconds=st.sampled_from([0.0, 0.02, 0.5, 4.0, 20.0]))
def test_no_request_has_more_than_a_hundred_texts_and_their_number_changes_no_vector(
    tmp_path: Path, count: int, seconds: float
) -> None:
    """Property 29: Batches."""
    model = SlowModel(seconds)
    embedded = stage_of(model, tmp_path).complete(rows_of(MANY_BLOBS[:count]), TEXTS[:count], ignore)
    assert max(sizes_of(model), default=0) <= 100
    assert not embedded.failed
    texts = [vector_of(text.decode(), DIMENSIONS) for text in TEXTS[:count]]
    exact = quantise(np.array(texts, np.float32).reshape(-1, DIMENSIONS))
    alone = snap_to_levels(exact.vectors, exact.scales)
    assert (embedded.rows.vectors == alone.vectors).all()


def test_a_slow_provider_gets_smaller_requests_from_then_on(tmp_path: Path) -> None:
    model = SlowModel(seconds=4)
    embedded = stage_of(model, tmp_path).complete(rows_of(BLOBS), TEXTS[:100], ignore)
    assert sizes_of(model) == [100, 25, 6, 6, 6, 6, 1, *[6] * 12, 3]
    assert [text for texts in model.requests[2:] for text in texts] == [text.decode() for text in TEXTS[:100]]
    assert not embedded.failed
    assert embedded.rows.vectors.any(axis=1).all()


def test_a_provider_that_was_busy_gets_large_requests_again(tmp_path: Path) -> None:
    model = BusyModel(seconds=1)
    stage_of(model, tmp_path).complete(rows_of(BLOBS), TEXTS[:100], ignore)
    assert sizes_of(model) == [100, 25, 50, 25]


def test_a_provider_that_never_answers_ends_the_run(tmp_path: Path) -> None:
    model = SlowModel(seconds=60)
    with pytest.raises(ProviderFailed, match="did not answer in time"):
        stage_of(model, tmp_path).complete(rows_of(BLOBS), TEXTS[:100], ignore)
    assert sizes_of(model) == [100, 25, 6, 1, 1]
