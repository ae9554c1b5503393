"""Excerpts of files and records as a block of numbered lines, or as JSON that fits into one message."""

from collections.abc import Sequence
from typing import Any

from gitmem.answering.excerpts import Excerpt
from gitmem.mcp.tools.json_output import dump
from gitmem.mcp.tools.text_output import Block, number_and_escape
from gitmem.mcp.tools.token_estimate import MAX_VALUE_TOKENS, estimate_tokens
from gitmem.search.snippet import number_lines


def excerpt_block(excerpt: Excerpt) -> Block:
    """Return an excerpt as lines for reading."""
    lines = number_and_escape(number_lines(excerpt.lines, excerpt.first))
    return Block(excerpt.heading, [*excerpt.description, *lines])


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
