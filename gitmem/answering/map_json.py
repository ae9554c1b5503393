"""Outline of a tree as JSON and as lines of text, for the command line and agents."""

from typing import TYPE_CHECKING, Any

from gitmem.answering.answer import ViewState
from gitmem.answering.answer_json import json_path
from gitmem.answering.map_answer import map_line
from gitmem.answering.trees_json import stats_json, trees_json, trees_words
from gitmem.display import count, visible, visible_code

if TYPE_CHECKING:
    from gitmem.answering.map_answer import MapAnswer, MappedFile
    from gitmem.answering.searched_trees import State

_DIGITS = 6


def map_json(answer: "MapAnswer[State]") -> dict[str, Any]:
    """Return an outline as JSON values. `files_total` counts the files with names below the path."""
    return {
        "path": json_path(answer.query.path),
        "query": answer.query.words,
        "tokens": answer.query.tokens,
        "files_total": answer.total,
        "files": [_file_json(file) for file in answer.files],
        **trees_json(answer.trees),
        "stats": stats_json(answer),
    }


def _file_json(file: "MappedFile") -> dict[str, Any]:
    return {
        **({"repository": file.repository} if file.repository else {}),
        "path": json_path(file.path),
        "importance": round(file.importance, _DIGITS),
        "definitions": [
            {
                "line": each.line,
                "kind": each.kind,
                "symbol": each.symbol,
                "importance": round(each.importance, _DIGITS),
                "text": each.text,
            }
            for each in file.definitions
        ],
    }


def file_label(file: "MappedFile") -> str:
    """Return the path of a file, behind the name of its repository if there are several."""
    return visible(f"{file.repository}:{file.path}" if file.repository else file.path)


def file_lines(file: "MappedFile") -> list[str]:
    """Return the definitions of a file as lines."""
    return [visible_code(map_line(each.line, each.depth, each.text)) for each in file.definitions]


def describe_map(answer: "MapAnswer[State]") -> str:
    """Return how much of the tree an outline shows: `12 of 83 files, 40 definitions`."""
    shown = f"{len(answer.files)} of {count(answer.total, 'file')}"
    return f"{shown}, {count(sum(len(file.definitions) for file in answer.files), 'definition')}"


def no_map(answer: "MapAnswer[State]") -> str:
    """Return the sentence about a tree, or a part of it, without definitions."""
    place = f"`{visible(answer.query.path)}`" if answer.query.path else _whole(answer)
    if answer.total:
        return f"no definition in {place} fits into {answer.query.tokens} tokens"
    return f"no code with definitions in {place}"


def _whole(answer: "MapAnswer[State]") -> str:
    return "this tree" if isinstance(answer.trees, ViewState) else trees_words(answer.trees)
