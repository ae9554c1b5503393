"""Usages as text for a model, and as JSON that fits into one message. Pure."""

from collections.abc import Sequence

from gitmem.answering.searched_trees import State, TreesAnswer
from gitmem.answering.trees_json import describe_trees, tree_notes
from gitmem.answering.usage_answer import Place, RelatedPlaces, UsageAnswer
from gitmem.answering.usage_json import describe_certainty, describe_relation, no_usages, place_text, usages_json
from gitmem.mcp.tools.json_output import dump, fit_values
from gitmem.mcp.tools.text_output import Block, render_blocks
from gitmem.secrets.masking import mask_text


def render_usages(answer: UsageAnswer[State]) -> str:
    """Return usages as text: a heading for each relation, and a line for each place."""
    blocks = [_block(related, answer.definitions) for related in answer.relations if related.total]
    return render_names(answer, blocks, no_usages(answer), "", "ask for one relation, or a lower limit")


def render_names(answer: TreesAnswer[State], blocks: Sequence[Block], empty: str, size: str, advice: str) -> str:
    """Return an answer about names as text: `empty` if there are no blocks, and `size` before the searched trees."""
    notes = tree_notes(answer.trees, answer.notes)
    if not blocks:
        notes.insert(0, empty)
    state = ", ".join(filter(None, (size, describe_trees(answer.trees))))
    return render_blocks(blocks, mask_text(state), notes, advice)


def _block(related: RelatedPlaces, definitions: int) -> Block:
    return Block(describe_relation(related), [_line(place, definitions) for place in related.places])


def _line(place: Place, definitions: int) -> str:
    return place_line(place, describe_certainty(place, definitions))


def place_line(place: Place, remark: str) -> str:
    """Return a place as a line."""
    shown = place_text(place, remark)
    return f"{' '.join(filter(None, shown[:2]))}: {' '.join(filter(None, shown[2:]))}"


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
