"""A packed vocabulary finds what a dictionary of the same pieces finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.embedding.vocabulary import FIRST_SORTED, Vocabulary, pack_pieces

SPECIAL = ["[PAD]", "[UNK]"]
words = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(pieces=st.sets(words, max_size=40), asked=words)
def test_every_piece_is_found_under_its_id_and_nothing_else(pieces: set[str], asked: str) -> None:
    ordered = SPECIAL + sorted(pieces - set(SPECIAL), key=str.encode)
    vocabulary = Vocabulary(pack_pieces(ordered))
    numbers = {piece: place for place, piece in enumerate(ordered)}
    assert vocabulary.load() == numbers
    assert len(vocabulary) == len(ordered)
    for piece in [*ordered[FIRST_SORTED:], asked]:
        assert vocabulary.find(piece) == (numbers.get(piece) if piece not in SPECIAL else None)


@pytest.mark.parametrize("pieces", [["b", "a"], ["a", "a"], ["a\nb"]])
def test_pieces_that_could_not_be_found_are_not_packed(pieces: list[str]) -> None:
    with pytest.raises(ValueError, match="not sorted, or not distinct, or hold a line feed"):
        pack_pieces([*SPECIAL, *pieces])
