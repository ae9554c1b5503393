"""Answers as text that a model reads: places with numbered lines between two fences, then the tree. Pure.

Nothing from the repository can end the fence, move text or hide in it, and no answer is longer than `tokens.MOST`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitmem.answering.answer_json import BOUNDARY, describe_view, first_mentions, format_remark
from gitmem.answering.hit_text import named_hit
from gitmem.display import count, visible, visible_code
from gitmem.mcp.tools.token_estimate import MAX_TOKENS, estimate_tokens
from gitmem.search.snippet import SnippetLine, make_snippet, number_lines

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer
    from gitmem.answering.hit_text import Piece
    from gitmem.records.code_notes import Remark

LOCATIONS: Final = "locations"
FULL: Final = "full"

_ROOM: Final = MAX_TOKENS - 500
"""Tokens for what stands between the fences; the rest is for notes and the tree."""

_MOST_NOTES: Final = 5
_SNIPPET_COLUMNS: Final = 200
_FULL_COLUMNS: Final = 2000
_NOTE_COLUMNS: Final = 300
_DAY: Final = len("2026-01-31")


class Block(NamedTuple):
    """A place and its lines."""

    heading: str
    lines: Sequence[str]


def render_answer(made: "Answer", detail: str, notes: Iterable[str] = ()) -> str:
    """An answer in the detail asked for."""
    remarks = first_mentions(made.remarks)
    blocks = [_hit_block(made, place, detail, remarks[place]) for place in range(len(made.hits))]
    told = [*notes, *made.notes]
    if not blocks:
        told.insert(0, "no results; the filters may be the cause" if made.query.filters.any else "no results")
    return render_blocks(blocks, describe_view(made.view), told, advice="fewer results or less detail show all of each")


def _hit_block(made: "Answer", place: int, detail: str, remarks: "Sequence[Remark]") -> Block:
    found, lines = made.hits[place]
    hit = named_hit(found)
    heading = f"{visible(hit.path)}:{hit.start_line}-{hit.end_line} {visible(hit.symbol)}".rstrip()
    change = made.changes.get(found.path)
    heading += f" ({change})" if change else ""
    heading += _record_told(made.records.get(found.blob, {}))
    also = (
        [f"the same in {', '.join(visible(path) for path in hit.other_paths[:2])}" + _more(hit.other_paths)]
        if hit.other_paths
        else []
    )
    also += map(format_remark, remarks)
    if detail == LOCATIONS:
        return Block(heading, also)
    if made.query.neighbors:
        return Block(heading, [*also, *_with_neighbours(lines, hit.start_line, made.adjacent[place])])
    if detail == FULL:
        return Block(heading, [*also, *numbered(number_lines(lines, hit.start_line), _FULL_COLUMNS)])
    snippet = make_snippet(lines, hit.start_line, made.terms, hit.symbol)
    return Block(heading, [*also, *numbered(snippet, _SNIPPET_COLUMNS)])


def _record_told(known: Mapping[str, Any]) -> str:
    """What a reader should know of a record before reading it: what it is, how sure, and of when."""
    sure = known.get("confidence", 1)
    told = [known.get("role") or known.get("type", ""), f"{sure:g} sure" if sure != 1 else ""]
    told.append((known.get("time") or known.get("stored", ""))[:_DAY])
    shown = ", ".join(visible(str(part)) for part in told if part)
    return f" ({shown})" if shown else ""


def _with_neighbours(lines: Sequence[str], first: int, beside: "tuple[Piece | None, Piece | None]") -> list[str]:
    """A chunk whole, with those before and after it and a mark between each two."""
    before, after = beside
    parts = [(before.first, before.lines)] if before else []
    parts.append((first, list(lines)))
    parts += [(after.first, after.lines)] if after else []
    shown = [numbered(number_lines(part, start)) for start, part in parts]
    return [line for place, part in enumerate(shown) for line in ([BOUNDARY, *part] if place else part)]


def _more(also: Sequence[str]) -> str:
    return f" and {count(len(also) - 2, 'more file')}" if len(also) > 2 else ""


def numbered(lines: Iterable[SnippetLine], columns: int = _FULL_COLUMNS) -> list[str]:
    """Lines with their numbers, unseen characters as escapes, and cut where they are longer than anyone reads."""
    return [f"{line.number} {visible_code(_cut(line.text, columns))}" if line.number else "..." for line in lines]


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else f"{text[:columns]}… ({len(text) - columns:,} more characters)"


def render_blocks(blocks: Sequence[Block], tree: str, notes: Sequence[str], advice: str) -> str:
    """Fenced blocks as far as there is room, notes with what was cut, and the tree."""
    shown, cut = _fit(blocks)
    told = [_cut(visible(note), _NOTE_COLUMNS) for note in notes[:_MOST_NOTES]]
    if cut:
        told.append(f"{cut} left out, an answer has at most {MAX_TOKENS:,} tokens: {advice}")
    fenced = fence("\n".join("\n".join([block.heading, *block.lines]) for block in shown)) if shown else []
    return "\n".join([*fenced, *(f"note: {note}" for note in told), f"[{tree}]"])


def _fit(blocks: Sequence[Block]) -> tuple[list[Block], str]:
    """Blocks for which there is room, the last one perhaps in part, and what was left out."""
    room, shown = _ROOM, list[Block]()
    texts = ["\n".join([block.heading, *block.lines]) for block in blocks]
    if sum(1 + len(text.encode()) for text in texts) <= room:  # no text has more tokens than bytes
        return list(blocks), ""
    for place, block in enumerate(blocks):
        cost = 1 + estimate_tokens(texts[place])
        if cost <= room:
            room -= cost
            shown.append(block)
            continue
        part = _fit_lines(block, room)
        left = len(blocks) - place - 1
        if part.lines:
            shown.append(part)
            cut = f"{count(len(block.lines) - len(part.lines), 'line')} of the last result"
            return shown, f"{cut} and {count(left, 'further result')}" if left else cut
        return shown, count(left + 1, "result")
    return shown, ""


def _fit_lines(block: Block, room: int) -> Block:
    """As many lines of a block as there is room for."""
    kept: list[str] = []
    room -= 2 + estimate_tokens(block.heading)
    for line in block.lines:
        room -= 1 + estimate_tokens(line)
        if room < 0:
            break
        kept.append(line)
    return Block(block.heading, kept)


def fence(body: str) -> list[str]:
    """The body between two marks whose name it does not hold."""
    name, number = "results", 1
    while name in body and f"{name}>" in body:
        number += 1
        name = f"results-{number}"
    return [f"<{name}>", body, f"</{name}>"]
