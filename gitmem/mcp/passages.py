"""Text that an agent asked for by its name: a part of a file or a record, as lines to read or as plain values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitmem.errors import GitmemError
from gitmem.mcp.render import Block, numbered
from gitmem.mcp.tokens import MOST, estimate_tokens
from gitmem.search.snippet import number_lines

_ROOM: Final = MOST - 1000
"""Tokens of all values; the rest is for what stands around them."""


class Passage(NamedTuple):
    """A text with its place. `lines` are what is read, `first` the number of the first; `content` is the same byte for
    byte, `known` what else is known of it, and `about` what of that a reader is told."""

    heading: str
    lines: Sequence[str]
    first: int
    content: str
    known: Mapping[str, Any]
    about: Sequence[str] = ()

    def block(self) -> Block:
        """As lines to read."""
        return Block(self.heading, [*self.about, *numbered(number_lines(self.lines, self.first))])


def read_passages(names: Sequence[str], read: Callable[[str], list[Passage]]) -> tuple[list[Passage], list[str]]:
    """The text of each name, and what is wrong with the others. Raises the last problem where nothing is right."""
    passages: list[Passage] = []
    problems: list[str] = []
    for name in names:
        try:
            passages += read(name)
        except GitmemError as problem:
            if not passages and len(problems) == len(names) - 1:
                raise
            problems.append(f"{problem.message}; {problem.hint}" if problem.hint else problem.message)
    return passages, problems


def passages_json(passages: Sequence[Passage], tree: str, notes: Sequence[str]) -> dict[str, Any]:
    """As plain values; where there is no room for a content, it is null and a note says so."""
    items: list[dict[str, Any]] = []
    notes = list(notes)
    room = _ROOM
    for passage in passages:
        cost = estimate_tokens(passage.content) if len(passage.content) <= _MOST_CHARACTERS else _ROOM
        fits = cost < room
        room -= cost if fits else 0
        items.append({**passage.known, "content": passage.content if fits else None})
        if not fits:
            told = f"`{passage.heading}` has {len(passage.content):,} characters, for which there is no room"
            notes.append(f"{told}; ask for fewer lines or for its chunks")
    return {"items": items, "notes": notes, "tree": tree}


_MOST_CHARACTERS: Final = 20 * MOST
"""A longer text has too many tokens, whatever it says."""
