"""A packed vocabulary gives the same results as a dictionary of the same pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.embedding.pieces import longest_piece_in
from gitmem.embedding.vocabulary import FIRST_SORTED, Vocabulary, pack_pieces

SPECIAL = ["[PAD]", "[UNK]"]
words = st.text("#abcéč検", min_size=1, max_size=6)


@given(pieces=st.sets(words, max_size=40), query=words)
def test_the_longest_piece_that_is_a_prefix_is_found(pieces: set[str], query: str) -> None:
    ordered = SPECIAL + sorted(pieces - set(SPECIAL))
    vocabulary = Vocabulary(pack_pieces(ordered))
    numbers = {piece: place for place, piece in enumerate(ordered)}
    assert vocabulary.load() == numbers
    assert len(vocabulary) == len(ordered)
    longest = longest_piece_in({piece: numbers[piece] for piece in ordered[FIRST_SORTED:]})
    for word in [*ordered[FIRST_SORTED:], query, *(piece + query for piece in pieces)]:
        assert vocabulary.find_longest(word) == longest(word)
        prefixes = [piece for piece in ordered[FIRST_SORTED:] if word.startswith(piece)]
        best = max(prefixes, key=len, default="")
        assert longest(word) == ((numbers[best], len(best)) if best else None)


@pytest.mark.parametrize("pieces", [["b", "a"], ["a", "a"], ["a\nb"]])
def test_pieces_that_a_search_would_miss_are_refused(pieces: list[str]) -> None:
    with pytest.raises(ValueError, match="not sorted, or not distinct, or contain a line feed"):
        pack_pieces([*SPECIAL, *pieces])
