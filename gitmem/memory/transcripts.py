"""Parse transcripts of Claude Code sessions into turns: words in full, output of tools shortened. Pure.

A transcript is JSON Lines. A line of type `user` or `assistant` has a message with text or a list of blocks. Results of
tools are in lines of the user. Lines with a title name the session. All others (snapshots, side chains) are skipped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_time
from gitmem.memory.conversation import MAX_TITLE, MAX_TURN, Turn
from gitmem.named_tuple import NamedTuple

_HEAD_CHARS: Final = 300
_TAIL_CHARS: Final = 300
"""Characters kept of the output of a tool. The beginning shows what it is, the end how it ended."""

_INPUT_CHARS: Final = 200
_MAIN_ARGUMENTS: Final = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt")
"""Arguments of tools that identify a call best, the best first."""


_TITLES: Final = (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary"))
"""Types of lines with a title, and the field that has it, the best first. Of several of a type the last one counts."""


class _Piece(NamedTuple):
    """Text of one block."""

    role: str
    text: str
    time: str


Redact = Callable[[str], str]
"""Function that removes secrets from a text. It gets the whole text: a private key that is cut is not recognised."""


def parse_transcript(lines: Iterable[str], name: str, redact: Redact = str, *, file: str = "") -> list[Turn]:
    """Parse the turns of a transcript. An entry without a time gets that of the one before it.

    `name` is the conversation's id if the transcript has none. Errors name the `file`, or `name` without one. Raises
    UsageError with the number of the malformed line.
    """
    file = file or name
    conversation = time = ""
    pieces: list[_Piece] = []
    titles: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        entry = _parse_line(line, number, file)
        titles |= _read_title(entry)
        if entry.get("isSidechain") or entry.get("isMeta") or entry.get("type") not in ("user", "assistant"):
            continue
        conversation = conversation or str(entry.get("sessionId") or "")
        time = _parse_time(entry, number, file) or time
        pieces += _read_pieces(entry, time, redact)
    if not pieces:
        raise UsageError(f"`{file}` has no conversation", hint="transcripts are in ~/.claude/projects/")
    turns = _merge_pieces(conversation or name, pieces)
    title = next((titles[kind] for kind, _ in _TITLES if kind in titles), "") or _first_words(turns)
    turns[0] = turns[0]._replace(title=redact(title)[:MAX_TITLE].strip())
    return turns


def _read_title(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the title of a line with one, by the type of the line."""
    field = dict(_TITLES).get(str(entry.get("type")))
    text = _one_line(str(entry.get(field) or "")) if field else ""
    return {str(entry["type"]): text} if text else {}


def _first_words(turns: Iterable[Turn]) -> str:
    """Return the first line that the user wrote, without the marks that commands leave."""
    lines = (line.strip() for turn in turns if turn.role == "user" for line in turn.content.splitlines())
    return next((_one_line(line) for line in lines if line and not line.startswith("<")), "")


def _one_line(text: str) -> str:
    # Titles are shown in lists, and JSON can hold lone surrogates, which have no UTF-8.
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def _parse_line(line: str, number: int, file: str) -> Mapping[str, Any]:
    if not line.strip():
        return {}
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"line {number} of `{file}` is not valid JSON") from error
    if not isinstance(entry, dict):
        raise UsageError(f"line {number} of `{file}`: expected a JSON object")
    return entry


def _parse_time(entry: Mapping[str, Any], number: int, file: str) -> str:
    time = str(entry.get("timestamp") or "")
    try:
        return check_time("time", time) if time else ""
    except UsageError as error:
        raise UsageError(f"line {number} of `{file}`: {error.message}", hint=error.hint) from error


def _read_pieces(entry: Mapping[str, Any], time: str, redact: Redact) -> Iterator[_Piece]:
    """Yield the text of each block of an entry."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else []:
        text = _format_block(block, redact) if isinstance(block, dict) else ""
        if text:
            # Calls and results belong to the assistant, although results are in lines of the user.
            role = str(entry["type"]) if block.get("type") == "text" else "assistant"
            # JSON can hold lone surrogates, which have no UTF-8.
            yield _Piece(role, text.encode("utf-8", "replace").decode("utf-8"), time)


def _format_block(block: Mapping[str, Any], redact: Redact) -> str:
    """Format a block as text; empty for thoughts, pictures and unknown types."""
    block_type = block.get("type")
    if block_type == "text":
        return redact(str(block.get("text") or "")).strip()
    if block_type == "tool_use":
        return f"[{block.get('name')}: {_shorten(redact(_main_argument(block.get('input'))), _INPUT_CHARS, 0)}]"
    if block_type == "tool_result":
        label = "error" if block.get("is_error") else "result"
        output = _shorten(redact(_plain_text(block.get("content"))), _HEAD_CHARS, _TAIL_CHARS)
        return f"[{label}] {output}" if output else ""
    return ""


def _main_argument(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    main = next((str(arguments[name]) for name in _MAIN_ARGUMENTS if arguments.get(name)), "")
    return main or json.dumps(arguments, ensure_ascii=False)


def _plain_text(content: object) -> str:
    if isinstance(content, list):
        texts = (str(part.get("text") or "") for part in content if isinstance(part, dict))
        return "\n".join(text for text in texts if text).strip()
    return str(content or "").strip()


def _shorten(text: str, head: int, tail: int) -> str:
    omitted = len(text) - head - tail
    if omitted <= 0:
        return text
    return f"{text[:head]}\n[... {omitted:,} characters ...]\n{text[len(text) - tail :]}".rstrip()


def _merge_pieces(conversation: str, pieces: Iterable[_Piece]) -> list[Turn]:
    """Merge consecutive pieces of one side into a turn, or into several if they are longer than MAX_TURN."""
    # Turns are numbered from the start, so importing a longer transcript of the same session again replaces turns by
    # the same or longer ones and appends the rest.
    turns: list[Turn] = []
    for piece in pieces:
        last = turns[-1] if turns else None
        for part in _split_text(piece.text):
            if last and last.role == piece.role and len(last.content) + len(part) + 2 <= MAX_TURN:
                last = turns[-1] = last._replace(content=f"{last.content}\n\n{part}")
            else:
                last = Turn(conversation, len(turns), piece.role, part, piece.time)
                turns.append(last)
    return turns


def _split_text(text: str) -> list[str]:
    """Split a text into parts of at most MAX_TURN characters, without blank ones."""
    parts = (text[start : start + MAX_TURN] for start in range(0, len(text), MAX_TURN))
    return [part for part in parts if part.strip()]
