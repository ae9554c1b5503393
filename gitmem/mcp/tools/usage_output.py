"""Usages as text for a model, and as JSON that fits into one message. Pure."""

from gitmem.answering.searched_trees import State
from gitmem.answering.trees_json import describe_trees, tree_notes
from gitmem.answering.usage_answer import Place, RelatedPlaces, UsageAnswer
from gitmem.answering.usage_json import describe_certainty, describe_relation, no_usages, usages_json
from gitmem.display import visible, visible_code
from gitmem.mcp.tools.json_output import dump, fit_values
from gitmem.mcp.tools.text_output import Block, render_blocks

_COLUMNS = 160
"""Columns of a shown line of code."""


def render_usages(answer: UsageAnswer[State]) -> str:
    """Return usages as text: a heading for each relation, and a line for each place."""
    blocks = [_block(related, answer.definitions) for related in answer.relations if related.total]
    notes = tree_notes(answer.trees, answer.notes)
    if answer.is_empty:
        notes.insert(0, no_usages(answer))
    return render_blocks(blocks, describe_trees(answer.trees), notes, "ask for one relation, or a lower limit")


def _block(related: RelatedPlaces, definitions: int) -> Block:
    return Block(describe_relation(related), [_line(place, definitions) for place in related.places])


def _line(place: Place, definitions: int) -> str:
    certainty = describe_certainty(place, definitions)
    symbol = f" {visible(place.symbol)}" if place.symbol else ""
    remark = f" ({visible(certainty)})" if certainty else ""
    return f"{place_label(place)}{symbol}: {visible_code(place.text[:_COLUMNS])}{remark}"


def place_label(place: Place) -> str:
    """Return the path and line of a place, behind the name of its repository if there are several."""
    return visible(
        f"{place.repository}:{place.path}:{place.line}" if place.repository else f"{place.path}:{place.line}"
    )


def usages_as_json(answer: UsageAnswer[State]) -> str:
    """Return usages as JSON; `omitted` is the number of places that do not fit into one message."""
    value = usages_json(answer)
    places = [(name, place) for name, related in value["relations"].items() for place in related["places"]]
    fitting, omitted = fit_values([place for _, place in places])
    for related in value["relations"].values():
        related["places"] = []
    for (name, _), place in zip(places, fitting, strict=False):
        value["relations"][name]["places"].append(place)
    return dump({**value, "omitted": omitted})
