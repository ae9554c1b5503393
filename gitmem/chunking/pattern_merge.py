"""Write patterns as a query with as few nodes as possible, because the parser library analyses each before it is used.

The library follows all parser states around every node with children, which takes up to 80 ms for the patterns of C++.
Patterns that differ in their last child alone become one with alternatives: `(a (b (c) @x))` and `(a (d) @x)` become
`(a [(b (c) @x) (d) @x])`. They match the same nodes.
"""

from collections.abc import Iterable, Sequence

from gitmem.chunking.occurrence_walk import Step

_Group = tuple[Step, list[Step]]
"""A pattern, and the last children of it and of those that equal it otherwise."""


def merge_patterns(patterns: Iterable[Step]) -> str:
    """Return the text of a query, with a line for each of the merged patterns."""
    return "\n".join(_write_all(patterns))


def _write_all(steps: Iterable[Step]) -> list[str]:
    """Return the merged nodes, each once, in the order of their first."""
    groups: dict[tuple[object, ...], _Group] = {}
    for step in steps:
        last = step.children[-1:]
        place = (last[0].field, last[0].is_first) if last else ()
        key = (step.type, step.capture, step.absent, step.children[:-1], place)
        groups.setdefault(key, (step, []))[1].extend(last)
    return list(dict.fromkeys(_write(step, last) for step, last in groups.values()))


def _write(step: Step, last: Sequence[Step]) -> str:
    """Return a node with its first children as they are, and its last ones as alternatives."""
    absent = [f"!{field}" for field in step.absent]
    first = [_place(child) + _write(child, child.children[-1:]) for child in step.children[:-1]]
    text = f"({' '.join([step.type, *absent, *first, *_alternatives(last)])})"
    return f"{text} @{step.capture}" if step.capture else text


def _alternatives(steps: Sequence[Step]) -> list[str]:
    """Return nodes for one place as a text, none if there are none."""
    nodes = _write_all(steps)
    if not nodes:
        return []
    return [_place(steps[0]) + (nodes[0] if len(nodes) == 1 else f"[{' '.join(nodes)}]")]


def _place(step: Step) -> str:
    """Return the part of a pattern that restricts the place of a node in its parent."""
    return (". " if step.is_first else "") + (f"{step.field}: " if step.field else "")
