"""A packed vocabulary finds what a dictionary of the same pieces finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.embedding.pieces import longest_of
from gitmem.embedding.vocabulary import FIRST_SORTED, Vocabulary, pack_pieces

SPECIAL = ["[PAD]", "[UNK]"]
words = st.text("#abc", min_size=1, max_size=6)


@given(pieces=st.sets(words, max_size=40), asked=words)
def test_the_longest_piece_that_a_word_begins_with_is_found(pieces: set[str], asked: str) -> None:
    ordered = SPECIAL + sorted(pieces - set(SPECIAL))
    vocabulary = Vocabulary(pack_pieces(ordered))
    numbers = {piece: place for place, piece in enumerate(ordered)}
    assert vocabulary.load() == numbers
    assert len(vocabulary) == len(ordered)
    longest = longest_of({piece: numbers[piece] for piece in ordered[FIRST_SORTED:]})
    for word in [*ordered[FIRST_SORTED:], asked, *(piece + asked for piece in pieces)]:
        assert vocabulary.find_longest(word) == longest(word)
        held = [piece for piece in ordered[FIRST_SORTED:] if word.startswith(piece)]
        best = max(held, key=len, default="")
        assert longest(word) == ((numbers[best], len(best)) if best else None)


@pytest.mark.parametrize("pieces", [["b", "a"], ["a", "a"], ["a\nb"]])
def test_pieces_that_could_not_be_found_are_not_packed(pieces: list[str]) -> None:
    with pytest.raises(ValueError, match="not sorted, or not distinct, or hold a line feed"):
        pack_pieces([*SPECIAL, *pieces])
