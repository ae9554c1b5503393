"""Callers that a range touches as JSON and as lines of text, for the command line and agents."""

from typing import TYPE_CHECKING, Any

from gitmem.answering.range_changes import change_json, change_line
from gitmem.answering.trees_json import stats_json, trees_json
from gitmem.answering.usage_json import describe_certainty, place_json
from gitmem.display import count, visible
from gitmem.history.tree_changes import REMOVED

if TYPE_CHECKING:
    from gitmem.answering.impact_answer import ImpactAnswer, ImpactedDefinition
    from gitmem.answering.searched_trees import State
    from gitmem.answering.usage_answer import Place

_DIGITS = 6


def impact_json(answer: "ImpactAnswer[State]") -> dict[str, Any]:
    """Return the callers by definition as JSON values."""
    return {
        "since": answer.since,
        "until": answer.until,
        "definitions": [_definition_json(each) for each in answer.definitions],
        "without_callers": answer.without_callers,
        "omitted": answer.omitted,
        **trees_json(answer.trees),
        "stats": stats_json(answer),
    }


def _definition_json(impacted: "ImpactedDefinition") -> dict[str, Any]:
    return {
        **change_json(impacted.change),
        "importance": round(impacted.importance, _DIGITS),
        "callers_total": impacted.total,
        "callers_untouched": impacted.untouched,
        "callers": [{**place_json(place), "changed": changed} for place, changed in impacted.callers],
    }


def describe_impact(answer: "ImpactAnswer[State]") -> str:
    """Return a line with the range and its numbers."""
    total = sum(each.total for each in answer.definitions)
    untouched = sum(each.untouched for each in answer.definitions)
    parts = [
        f"{count(len(answer.definitions), 'definition')} with {count(total, 'caller')}, {untouched:,} not changed",
        f"{answer.without_callers:,} without callers" if answer.without_callers else "",
        f"{answer.omitted:,} less important ones not looked at" if answer.omitted else "",
    ]
    return f"{visible(answer.since)}..{visible(answer.until)}: {', '.join(part for part in parts if part)}"


def definition_line(impacted: "ImpactedDefinition") -> str:
    """Return a changed definition with the number of its callers as a line."""
    shown = len(impacted.callers)
    numbers = count(impacted.total, "caller") + (f", {shown} shown" if shown < impacted.total else "")
    return f"{change_line(impacted.change, with_group=True)}  {numbers}"


def describe_caller(impacted: "ImpactedDefinition", place: "Place", *, changed: bool) -> str:
    """Return in words how certain it is that a place calls a definition, and whether the range changed it as well."""
    is_removed = impacted.change.group == REMOVED
    parts = ["not defined any more" if is_removed else describe_certainty(place, 1), "also changed" if changed else ""]
    return ", ".join(part for part in parts if part)


def no_impact(answer: "ImpactAnswer[State]") -> str:
    """Return the sentence about changes that touch no callers."""
    return f"{visible(answer.since)}..{visible(answer.until)} touches no callers"
