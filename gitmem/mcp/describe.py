"""The state of an index, and answers as JSON, in the forms that every front door shares."""

import json
from typing import TYPE_CHECKING, Any, Final

from gitmem.actions.forms import answer_json
from gitmem.actions.status import NO_INDEX, Status
from gitmem.actions.status_forms import status_json, status_lines
from gitmem.mcp.tokens import MOST, estimate_tokens
from gitmem.text import visible

if TYPE_CHECKING:
    from gitmem.actions.query import Answer

__all__ = ["answer_as_json", "describe_status", "dump", "status_json"]

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
    results: list[dict[str, Any]] = []
    room = MOST - 1000
    for result in value["results"]:
        if detail != "full":
            del result[_CONTENT]
        room -= estimate_tokens(str(result))
        if room < 0:
            break
        results.append(result)
    value["omitted"] = len(value["results"]) - len(results)
    return {**value, "results": results}
