"""Sample rows for tests of the store, and strategies that draw them."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from gitmem.store.columns import COLUMNS, CONTENT_BYTES, FIELDS, OUTCOMES
from gitmem.store.postings import Postings
from gitmem.store.rows import Blobs, Rows
from gitmem.store.vector_levels import SEARCHED_LEVELS
from gitmem.types import CHUNK_TYPES

DIMENSIONS = 64


class SampleChunk(NamedTuple):
    """Row with its span, its symbol, and the terms of both fields with their frequencies."""

    start: int
    length: int
    symbol: bytes
    terms: dict[bytes, int]
    names: dict[bytes, int]


class SampleBlob(NamedTuple):
    """Blob with its rows."""

    oid: bytes
    requested: str
    language: str
    outcome: int
    chunks: Sequence[SampleChunk]


def oid_of(text: str) -> bytes:
    """Return an object id for a text."""
    return hashlib.sha1(text.encode()).digest()


def content_of(chunk: SampleChunk) -> bytes:
    """Return a hash of the words of a chunk."""
    return hashlib.blake2b(repr((chunk.symbol, sorted(chunk.terms.items()))).encode(), digest_size=16).digest()


def vector_of(blob: SampleBlob, chunk: SampleChunk) -> NDArray[np.int8]:
    """Return a vector that depends only on blob and chunk."""
    seed = int.from_bytes(hashlib.sha1(repr((blob.oid, chunk.start, chunk.symbol)).encode()).digest()[:8])
    vectors = np.random.default_rng(seed).integers(-127, 128, (1, DIMENSIONS)).astype(np.int8)
    vector: NDArray[np.int8] = SEARCHED_LEVELS.nearest(vectors)[0]
    return vector


def rows_of(blobs: Sequence[SampleBlob]) -> Rows:
    """Return blobs as a batch of rows."""
    chunks = [chunk for blob in blobs for chunk in blob.chunks]
    vectors = [vector_of(blob, chunk) for blob in blobs for chunk in blob.chunks]
    columns = {
        "start": [chunk.start for chunk in chunks],
        "length": [chunk.length for chunk in chunks],
        "line": [chunk.start // 10 + 1 for chunk in chunks],
        "lines": [chunk.length // 10 + 1 for chunk in chunks],
        "kind": [chunk.length % len(CHUNK_TYPES) for chunk in chunks],
        "kinds": [1 << chunk.length % len(CHUNK_TYPES) for chunk in chunks],
        "words": [min(sum(chunk.terms.values()), 65535) for chunk in chunks],
        "scale": [0.5 for _ in chunks],
        "norm": [1.25 for _ in chunks],
    }
    return Rows(
        Blobs(
            [(blob.oid, blob.requested) for blob in blobs],
            [blob.language for blob in blobs],
            np.array([blob.outcome for blob in blobs], np.uint8),
            np.cumsum([0, *(len(blob.chunks) for blob in blobs)]).astype(np.int64),
            [b""] * len(blobs),
        ),
        {name: np.array(columns[name], kind) for name, kind in COLUMNS.items()},
        [chunk.symbol for chunk in chunks],
        np.array(vectors, np.int8).reshape(len(chunks), DIMENSIONS),
        np.frombuffer(b"".join(map(content_of, chunks)), np.uint8).reshape(-1, CONTENT_BYTES),
        {"text": _postings([chunk.terms for chunk in chunks]), "symbol": _postings([chunk.names for chunk in chunks])},
    )


def _postings(counts: Sequence[dict[bytes, int]]) -> Postings:
    numbers: dict[bytes, int] = {}
    triples = [
        (numbers.setdefault(term, len(numbers)), row, min(times, 255))
        for row, terms in enumerate(counts)
        for term, times in terms.items()
    ]
    term, row, count = (list(column) for column in zip(*triples, strict=True)) if triples else ([], [], [])
    return Postings(list(numbers), np.array(term, np.int32), np.array(row, np.int32), np.array(count, np.uint8))


def assert_same_rows(left: Rows, right: Rows) -> None:
    """Assert that batches are equal except for the numbers of their terms."""
    assert left.blobs.keys == right.blobs.keys
    assert left.blobs.languages == right.blobs.languages
    assert left.blobs.outcomes.tolist() == right.blobs.outcomes.tolist()
    assert left.blobs.first.tolist() == right.blobs.first.tolist()
    assert left.labels == right.labels
    assert np.array_equal(left.vectors, right.vectors)
    assert np.array_equal(left.contents, right.contents)
    for name in COLUMNS:
        assert left.columns[name].tolist() == right.columns[name].tolist(), name
    for field in FIELDS:
        assert triples_of(left.postings[field]) == triples_of(right.postings[field]), field


def triples_of(postings: Postings) -> list[tuple[bytes, int, int]]:
    """Return term, row and frequency of all postings, sorted."""
    return sorted(
        (postings.terms[term], row, count)
        for term, row, count in zip(
            postings.term.tolist(), postings.row.tolist(), postings.frequency.tolist(), strict=True
        )
    )


terms = st.one_of(
    st.binary(max_size=255),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")[:255]),
    st.sampled_from([b"get", b"getter", b"getters", b"get_user", b"a" * 254, b"a" * 255, b""]),
)


@st.composite
def sample_blobs(draw: st.DrawFn) -> list[SampleBlob]:
    """Draw a few blobs whose rows share some terms; each draw yields many rows, so that examples remain cheap."""
    words = draw(st.lists(terms, max_size=10, unique=True))
    blobs = []
    for number, seed in enumerate(draw(st.lists(st.binary(min_size=4, max_size=64), max_size=5))):
        chunks = [_chunk(seed[place:] + seed[:place], words) for place in range(len(seed) // 12)]
        requested = ("", "python", "go", "c#", "日本語")[seed[0] % 5]
        language = ("python", "go", "text")[seed[1] % 3]
        blobs.append(SampleBlob(oid_of(f"{number}{seed!r}"), requested, language, seed[2] % len(OUTCOMES), chunks))
    return blobs


def _chunk(source: bytes, words: Sequence[bytes]) -> SampleChunk:
    """Build a row from a few bytes; frequencies are up to 510, more than a posting can store."""
    counts = dict(zip(words, (2 * byte for byte in source), strict=False))
    return SampleChunk(
        start=int.from_bytes(source[:4]),
        length=int.from_bytes(source[4:6]),
        symbol=_symbol(words[source[0] % len(words)]) if words else b"",
        terms={word: times for word, times in counts.items() if times},
        names={word: 1 for word, times in counts.items() if times > 300},
    )


def _symbol(word: bytes) -> bytes:
    """Return a word as a symbol: UTF-8 without the separators of labels."""
    return word.decode("utf-8", "replace").encode().translate(bytes.maketrans(b"\0\1", b"  "))
