"""Usages of a name as JSON and as lines of text, for the command line and agents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.answer_json import json_path
from gitmem.answering.trees_json import stats_json, trees_json, trees_words
from gitmem.display import visible, visible_code
from gitmem.named_tuple import NamedTuple

if TYPE_CHECKING:
    from gitmem.answering.searched_trees import State
    from gitmem.answering.usage_answer import Place, RelatedPlaces, UsageAnswer

_COLUMNS: Final = 160
"""Columns of a shown line of code."""


class PlaceText(NamedTuple):
    """Parts of the line that shows a place, safe to print: path and line, symbol, code, remark in brackets."""

    label: str
    symbol: str
    code: str
    remark: str


def usages_json(answer: "UsageAnswer[State]") -> dict[str, Any]:
    """Return usages as JSON values. `total` counts all places of a relation, `places` has at most `limit`.

    In several repositories the `id` of a place names its one.
    """
    return {
        "query": answer.query.text,
        "name": answer.name,
        "symbols": answer.symbols,
        "relations": relations_json(answer.relations),
        **trees_json(answer.trees),
        "stats": stats_json(answer),
    }


def relations_json(relations: "Sequence[RelatedPlaces]") -> dict[str, Any]:
    """Return the places of each relation; `total` counts all."""
    return {
        related.relation: {"total": related.total, "places": [place_json(place) for place in related.places]}
        for related in relations
    }


def place_json(place: "Place") -> dict[str, Any]:
    """Return a place; `definitions` is the number of definitions that it may mean, `by` the rule that found them.

    `through` is the member that the place calls, if the definition overrides that one.
    """
    values: dict[str, Any] = {
        "path": json_path(place.path),
        "line": place.line,
        "kind": place.kind,
        "symbol": place.symbol,
        "text": place.text,
    }
    if place.repository:
        values |= {"repository": place.repository, "id": json_path(f"{place.repository}:{place.path}:{place.line}")}
    if place.depth:
        values |= {
            "depth": place.depth,
            "definitions": place.candidates,
            "by": place.rule or "library",
            "may_be_library": place.open or not place.rule,
            "target": json_path(place.target) or None,
            "through": place.through or None,
        }
    return values


def describe_relation(related: "RelatedPlaces") -> str:
    """Return the heading of a relation: `callers: 51, 20 shown`."""
    shown = len(related.places)
    return f"{related.relation}: {related.total:,}" + (f", {shown} shown" if shown < related.total else "")


def place_text(place: "Place", remark: str) -> PlaceText:
    """Return the parts of the line that shows a place. Its path is behind the repository if there are several."""
    path = f"{place.repository}:{place.path}" if place.repository else place.path
    code = visible_code(place.text[:_COLUMNS])
    return PlaceText(visible(f"{path}:{place.line}"), visible(place.symbol), code, remark and f"({visible(remark)})")


def describe_certainty(place: "Place", definitions: int) -> str:
    """Return in words which definition a place means and how certain that is; nothing if it is the only one asked for.

    `definitions` is the number of definitions that were asked for.
    """
    parts = []
    if place.through:
        parts.append(f"through {place.through}")
    elif definitions > 1 and place.target:
        parts.append(f"means {place.target}")
    if place.depth > 1:
        parts.append(f"{place.depth} steps")
    if place.candidates > 1:
        parts.append(f"one of {place.candidates} definitions")
    elif place.rule == "name":
        parts.append("by name alone")
    if place.open:
        parts.append("or of a library")
    return ", ".join(parts)


def no_usages(answer: "UsageAnswer[State]") -> str:
    """Return the sentence about a name that nothing uses."""
    place = trees_words(answer.trees)
    if not answer.symbols:
        whole = place if hasattr(answer.trees, "searched") else "this tree"
        return f"nothing in {whole} has the name `{answer.query.text}`"
    # The tree of a range has the name of the range.
    rev = getattr(answer.trees, "rev", "")
    lines = f" on the lines that {visible(rev)} changes" if ".." in rev else ""
    return f"no usages of `{answer.query.text}`{lines} in {place}"
