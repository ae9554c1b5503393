"""The state of an index, and answers as JSON, in the forms that every front door shares."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.answer_json import answer_json
from gitmem.answering.index_status import NO_INDEX, Status
from gitmem.answering.status_report import status_json, status_lines
from gitmem.display import visible
from gitmem.mcp.tools.token_estimate import MAX_VALUE_TOKENS, estimate_tokens

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer

__all__ = ["answer_as_json", "describe_status", "dump", "fitting", "status_json"]

_CONTENT: Final = "content"


def dump(value: object) -> str:
    """A value as JSON on a line."""
    return json.dumps(value, separators=(",", ":"))


def describe_status(status: Status) -> str:
    """A state in lines, the most telling first."""
    head = f"{status.state}: {visible(status.head)}"
    if status.state == NO_INDEX:
        return f"{head}\nnote: the first search builds the index"
    return "\n".join([head, *status_lines(status)])


def answer_as_json(made: "Answer", detail: str, notes: list[str]) -> dict[str, Any]:
    """An answer as values; of results for which there is no room the rest is left out, and `omitted` says how many.

    Content comes with the detail `full` alone.
    """
    value = answer_json(made, [None] * len(made.hits))
    value["stats"]["notes"] = [*notes, *made.notes]
    if detail != "full":
        for result in value["results"]:
            del result[_CONTENT]
    results, omitted = fitting(value["results"])
    return {**value, "results": results, "omitted": omitted}


def fitting(values: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
    """As many values, the first first, as there is room for, and how many are left out."""
    kept, room = list[Mapping[str, Any]](), MAX_VALUE_TOKENS
    for value in values:
        room -= estimate_tokens(dump(value))
        if room < 0:
            break
        kept.append(value)
    return kept, len(values) - len(kept)
