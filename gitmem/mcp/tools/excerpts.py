"""Excerpts of files and records as a block of numbered lines, or as JSON that fits into one message."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
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
    """Return excerpts as values that fit into one message.

    Content that does not fit ends after a whole line, and `next` is the id that reads on; not even one line: null.
    """
    items: list[dict[str, Any]] = []
    notes = list(notes)
    remaining = MAX_VALUE_TOKENS
    for excerpt in excerpts:
        excerpt = _fit_spans(excerpt, remaining, notes)
        item = _values(excerpt)
        if estimate_tokens(dump(item)) > remaining:
            part = _fit_content(excerpt, remaining)
            item = _values(part) if part else {**item, "content": None}
            rest = f"read on with `{item['next']}`" if part else "read fewer lines or its chunks"
            notes.append(f"`{excerpt.heading}` is too long ({len(excerpt.content):,} characters); {rest}")
        cost = estimate_tokens(dump(item))
        if cost <= remaining:
            items.append(item)
            remaining -= cost
    return {"items": items, "notes": notes, "tree": tree}


def _values(excerpt: Excerpt) -> dict[str, Any]:
    return {**excerpt.fields, "content": excerpt.content}


def _fit_spans(excerpt: Excerpt, budget: int, notes: list[str]) -> Excerpt:
    """Return an excerpt with the first of its `chunk_spans` that take at most half of a budget of tokens."""
    spans = excerpt.fields.get("chunk_spans", [])
    fitting = _count_fitting(len(spans), budget // 2, lambda size: dump(spans[:size]))
    if fitting == len(spans):
        return excerpt
    notes.append(f"`chunk_spans` has the first {fitting} of {len(spans)}; read any chunk as `{excerpt.name}:NUMBER`")
    return excerpt._replace(fields={**excerpt.fields, "chunk_spans": spans[:fitting]})


def _fit_content(excerpt: Excerpt, budget: int) -> Excerpt | None:
    """Return the first lines of an excerpt that fit into a budget of tokens; None if not even one does."""
    size = excerpt.content.count("\n") if excerpt.name else 0
    fitting = _count_fitting(size, budget, lambda lines: dump(_values(excerpt.first_lines(lines))))
    return excerpt.first_lines(fitting) if fitting else None


def _count_fitting(size: int, budget: int, text_of: Callable[[int], str]) -> int:
    """Return how many of the first `size` things fit into a budget of tokens, by bisection; the cost grows."""
    return bisect_right(range(1, size + 1), budget, key=lambda number: estimate_tokens(text_of(number)))
