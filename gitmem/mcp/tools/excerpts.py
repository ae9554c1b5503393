"""Excerpts: text of a file or record that an agent asked for by name, to be shown as numbered lines or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.display import visible
from gitmem.mcp.tools.json_output import dump
from gitmem.mcp.tools.text_output import Block, number_and_escape
from gitmem.mcp.tools.token_estimate import MAX_VALUE_TOKENS, estimate_tokens
from gitmem.search.snippet import number_lines


class Excerpt(NamedTuple):
    """Text with its location."""

    heading: str
    lines: Sequence[str]
    """Lines for reading."""
    first: int
    """Number of the first line."""
    content: str
    """The same text byte for byte."""
    fields: Mapping[str, Any]
    """Further fields for JSON."""
    description: Sequence[str] = ()
    """Fields shown as lines before the text."""

    def in_repository(self, name: str) -> "Excerpt":
        """Return the excerpt under the name of its repository."""
        fields = {"repository": name, **self.fields}
        if "id" in fields:
            fields["id"] = f"{name}:{fields['id']}"
        return self._replace(heading=f"{visible(name)}:{self.heading}", fields=fields)

    def to_block(self) -> Block:
        """Return the excerpt as lines for reading."""
        return Block(self.heading, [*self.description, *number_and_escape(number_lines(self.lines, self.first))])


def excerpts_json(excerpts: Sequence[Excerpt], tree: str, notes: Sequence[str]) -> dict[str, Any]:
    """Return excerpts as values that fit into one message; content that does not fit is null, with a note."""
    items: list[dict[str, Any]] = []
    notes = list(notes)
    remaining = MAX_VALUE_TOKENS
    for excerpt in excerpts:
        item = {**excerpt.fields, "content": excerpt.content}
        cost = estimate_tokens(dump(item))
        if cost > remaining:
            notes.append(f"`{excerpt.heading}` is too long ({len(excerpt.content):,} characters); read fewer lines "
                         "or its chunks")  # fmt: skip
            item["content"] = None
            cost = estimate_tokens(dump(item))
        if cost <= remaining:
            items.append(item)
            remaining -= cost
    return {"items": items, "notes": notes, "tree": tree}
