"""Text that an agent asked for by its name: a part of a file or a record, as lines to read or as plain values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.errors import GitmemError
from gitmem.mcp.tools.json_output import dump
from gitmem.mcp.tools.text_output import Block, numbered
from gitmem.mcp.tools.token_estimate import MAX_VALUE_TOKENS, estimate_tokens
from gitmem.search.snippet import number_lines


class Excerpt(NamedTuple):
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


def read_excerpts(names: Sequence[str], read: Callable[[str], list[Excerpt]]) -> tuple[list[Excerpt], list[str]]:
    """The text of each name, and what is wrong with the others. Raises the last problem where nothing is right."""
    passages: list[Excerpt] = []
    problems: list[str] = []
    for name in names:
        try:
            passages += read(name)
        except GitmemError as problem:
            if not passages and len(problems) == len(names) - 1:
                raise
            problems.append(f"{problem.message}; {problem.hint}" if problem.hint else problem.message)
    return passages, problems


def excerpts_json(passages: Sequence[Excerpt], tree: str, notes: Sequence[str]) -> dict[str, Any]:
    """As plain values; where there is no room for a content, it is null and a note says so."""
    items: list[dict[str, Any]] = []
    notes = list(notes)
    room = MAX_VALUE_TOKENS
    for passage in passages:
        item = {**passage.known, "content": passage.content}
        cost = estimate_tokens(dump(item))
        if cost > room:
            told = f"`{passage.heading}` has {len(passage.content):,} characters, for which there is no room"
            notes.append(f"{told}; ask for fewer lines or for its chunks")
            item["content"] = None
            cost = estimate_tokens(dump(item))
        if cost <= room:
            items.append(item)
            room -= cost
    return {"items": items, "notes": notes, "tree": tree}
