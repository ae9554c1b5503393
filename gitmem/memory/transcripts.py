"""Transcripts of Claude Code sessions as conversations: what was said in full, what tools put out in short. Pure.

A transcript is JSON Lines. A line of type `user` or `assistant` carries a message whose content is text or a list of
blocks; results of tools come as lines of the user. Everything else (summaries, snapshots, side chains) is left out.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_time
from gitmem.memory.conversation import MAX_TURN, Turn

_HEAD: Final = 300
_TAIL: Final = 300
"""Of what a tool puts out, the beginning says what it is and the end how it ended."""

_INPUT: Final = 200
_TELLING: Final = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt")
"""Arguments of tools that say most about the call, in this order."""


class _Piece(NamedTuple):
    role: str
    text: str
    time: str


Clean = Callable[[str], str]
"""Takes out of a text what must not be kept; the text is whole then, nothing has been cut off."""


def parse_session(lines: Iterable[str], name: str, clean: Clean = str) -> list[Turn]:
    """The turns of a transcript; `name` is what errors call it. Raises UsageError naming the line that is wrong.

    A turn of an entry without a time has that of the one before it.
    """
    conversation = time = ""
    pieces: list[_Piece] = []
    for number, line in enumerate(lines, 1):
        entry = _parse_line(line, number, name)
        if entry.get("isSidechain") or entry.get("isMeta") or entry.get("type") not in ("user", "assistant"):
            continue
        conversation = conversation or str(entry.get("sessionId") or "")
        time = _time(entry, number, name) or time
        pieces += _pieces(entry, time, clean)
    if not pieces:
        raise UsageError(f"`{name}` holds no conversation", hint="transcripts lie in ~/.claude/projects/")
    return _turns(conversation or name, pieces)


def _parse_line(line: str, number: int, name: str) -> Mapping[str, Any]:
    if not line.strip():
        return {}
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"line {number} of `{name}` is no JSON") from problem
    if not isinstance(entry, dict):
        raise UsageError(f"line {number} of `{name}` is no JSON object")
    return entry


def _time(entry: Mapping[str, Any], number: int, name: str) -> str:
    told = str(entry.get("timestamp") or "")
    try:
        return check_time("time", told) if told else ""
    except UsageError as problem:
        raise UsageError(f"line {number} of `{name}`: {problem.message}", hint=problem.hint) from problem


def _pieces(entry: Mapping[str, Any], time: str, clean: Clean) -> Iterator[_Piece]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else []:
        told = _tell(block, clean) if isinstance(block, dict) else ""
        if told:
            said = block.get("type") == "text"
            whole = told.encode("utf-8", "replace").decode("utf-8")  # JSON can hold halves of characters
            yield _Piece(str(entry["type"]) if said else "assistant", whole, time)


def _tell(block: Mapping[str, Any], clean: Clean) -> str:
    """A block in words; nothing for thoughts, pictures and what is unknown."""
    kind = block.get("type")
    if kind == "text":
        return clean(str(block.get("text") or "")).strip()
    if kind == "tool_use":
        return f"[{block.get('name')}: {_shorten(clean(_argument(block.get('input'))), _INPUT, 0)}]"
    if kind == "tool_result":
        label = "error" if block.get("is_error") else "result"
        output = _shorten(clean(_plain(block.get("content"))), _HEAD, _TAIL)
        return f"[{label}] {output}" if output else ""
    return ""


def _argument(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    told = next((str(arguments[name]) for name in _TELLING if arguments.get(name)), "")
    return told or json.dumps(arguments, ensure_ascii=False)


def _plain(content: object) -> str:
    if isinstance(content, list):
        texts = (str(part.get("text") or "") for part in content if isinstance(part, dict))
        return "\n".join(text for text in texts if text).strip()
    return str(content or "").strip()


def _shorten(text: str, head: int, tail: int) -> str:
    left_out = len(text) - head - tail
    if left_out <= 0:
        return text
    return f"{text[:head]}\n[... {left_out:,} characters ...]\n{text[len(text) - tail :]}".rstrip()


def _turns(conversation: str, pieces: Iterable[_Piece]) -> list[Turn]:
    """One turn for all that one side says in a row, further ones where that is too long."""
    turns: list[Turn] = []
    for piece in pieces:
        last = turns[-1] if turns else None
        for part in _parts(piece.text):
            if last and last.role == piece.role and len(last.content) + len(part) + 2 <= MAX_TURN:
                last = turns[-1] = last._replace(content=f"{last.content}\n\n{part}")
            else:
                last = Turn(conversation, len(turns), piece.role, part, piece.time)
                turns.append(last)
    return turns


def _parts(text: str) -> list[str]:
    parts = (text[at : at + MAX_TURN] for at in range(0, len(text), MAX_TURN))
    return [part for part in parts if part.strip()]
