"""Identifiers of chunks, found in one pass over the texts of a batch."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.identifier_counts import Identifiers
from gitmem.indexing.word_finder import encoding_of, find_words
from gitmem.words import find_identifiers

contents = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=60).map(str.encode),
    st.lists(st.sampled_from(["get_user", "x", " ", "\n", "(", "naïve", "検索", "42", "."]), max_size=30).map(
        lambda parts: "".join(parts).encode()
    ),
)


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(contents, max_size=4), data=st.data())
def test_words_of_rows_are_those_of_their_decoded_parts(texts: list[bytes], data: st.DataObject) -> None:
    rows = []
    for content in texts:
        cut = st.integers(0, len(content))
        spans = st.tuples(cut, cut).map(lambda pair: (min(pair), max(pair)))
        rows.append(data.draw(st.lists(st.lists(spans, min_size=1, max_size=3), max_size=4)))
    identifiers = Identifiers()
    places, numbers = find_words(texts, rows, identifiers)
    found = Counter(
        (place, identifiers.names[number]) for place, number in zip(places.tolist(), numbers.tolist(), strict=True)
    )
    decoded = [
        "\n".join(content[start:end].decode(encoding_of(content), "replace") for start, end in row)
        for content, own in zip(texts, rows, strict=True)
        for row in own
    ]
    expected = Counter((place, word.encode()) for place, text in enumerate(decoded) for word in find_identifiers(text))
    assert found == expected


def test_a_word_at_the_cut_of_two_rows_is_cut_in_both() -> None:
    identifiers = Identifiers()
    places, numbers = find_words([b"an identifier"], [[[(0, 6)], [(6, 12)]]], identifiers)
    words = {(place, identifiers.names[number]) for place, number in zip(places, numbers, strict=True)}
    assert words == {(0, b"an"), (0, b"ide"), (1, b"ntifie")}
