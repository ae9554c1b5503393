"""Answers and the state of the index as JSON, in the same form as `gitmem query --json` and `gitmem status --json`."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.answer_json import answer_json
from gitmem.answering.index_status import NO_INDEX, Status
from gitmem.answering.status_report import run_lines, status_json, status_lines
from gitmem.display import visible
from gitmem.mcp.tools.token_estimate import MAX_VALUE_TOKENS, estimate_tokens

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer

__all__ = ["answer_as_json", "describe_status", "dump", "fit_values", "status_json"]


_ONLY_FULL: Final = (
    "content",
    "content_hash",
    "file_uri",
    "chunk_index",
    "total_chunks",
    "file_size_bytes",
    "indexed_at",
)
"""Fields that results have only with the detail `full`."""


def dump(value: object) -> str:
    """Return a value as compact JSON on one line."""
    return json.dumps(value, separators=(",", ":"))


def describe_status(status: Status) -> str:
    """Describe the state of the index in lines, the most important first."""
    head = f"{status.state}: {visible(status.head)}"
    if status.state == NO_INDEX:
        memory = [f"memory     {visible(status.memory_problem)}"] if status.memory_problem else []
        return "\n".join([head, *memory, "note: the first search builds the index"])
    return "\n".join([head, *(status_lines(status) if status.generation else run_lines(status))])


def answer_as_json(answer: "Answer", detail: str, notes: list[str]) -> dict[str, Any]:
    """Return an answer as values that fit into one message.

    `omitted` is the number of results left out at the end. Results have their content only with the detail `full`.
    """
    value = answer_json(answer, [None] * len(answer.hits))
    value["stats"]["notes"] = [*notes, *answer.notes]
    return fit_results(value, detail)


def fit_results(value: dict[str, Any], detail: str) -> dict[str, Any]:
    """Return an answer with the results that fit into one message, and the number of the others."""
    if detail != "full":
        for result in value["results"]:
            for name in _ONLY_FULL:
                result.pop(name, None)
    results, omitted = fit_values(value["results"])
    return {**value, "results": results, "omitted": omitted}


def fit_values(values: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
    """Return the first values that fit into one message, and the number of the others."""
    fitting: list[Mapping[str, Any]] = []
    remaining = MAX_VALUE_TOKENS
    for value in values:
        remaining -= estimate_tokens(dump(value))
        if remaining < 0:
            break
        fitting.append(value)
    return fitting, len(values) - len(fitting)
