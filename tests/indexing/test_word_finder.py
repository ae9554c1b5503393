"""Identifiers of chunks, found in one pass over their blob."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.identifier_counts import Identifiers
from gitmem.indexing.word_finder import encoding_of, find_words
from gitmem.types import Chunk
from gitmem.words import find_identifiers

contents = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=60).map(str.encode),
    st.lists(st.sampled_from(["get_user", "x", " ", "\n", "(", "naïve", "検索", "42", "."]), max_size=30).map(
        lambda parts: "".join(parts).encode()
    ),
)


@settings(max_examples=300, deadline=None)
@given(content=contents, data=st.data())
def test_words_of_chunks_are_those_of_their_decoded_parts(content: bytes, data: st.DataObject) -> None:
    cut = st.integers(0, len(content))
    spans = st.tuples(cut, cut).map(sorted)
    parts = data.draw(st.lists(st.lists(spans, min_size=1, max_size=3), min_size=1, max_size=4))
    chunks = [Chunk(0, len(content), 1, 1, "text", "", tuple((start, end) for start, end in part)) for part in parts]
    identifiers = Identifiers()
    places, numbers = find_words(content, chunks, identifiers)
    found = Counter(
        (place, identifiers.names[number]) for place, number in zip(places.tolist(), numbers.tolist(), strict=True)
    )
    encoding = encoding_of(content)
    texts = ["\n".join(content[start:end].decode(encoding, "replace") for start, end in part) for part in parts]
    expected = Counter((place, word.encode()) for place, text in enumerate(texts) for word in find_identifiers(text))
    assert found == expected


def test_a_word_at_the_cut_of_two_chunks_is_cut_in_both() -> None:
    chunks = [Chunk(0, 6, 1, 1, "text", "", ((0, 6),)), Chunk(6, 12, 1, 1, "text", "", ((6, 12),))]
    identifiers = Identifiers()
    places, numbers = find_words(b"an identifier", chunks, identifiers)
    words = {(place, identifiers.names[number]) for place, number in zip(places, numbers, strict=True)}
    assert words == {(0, b"an"), (0, b"ide"), (1, b"ntifie")}
