"""Answers as text for a model: locations with numbered lines between two fences, then notes and the tree. Pure.

Two guarantees. Text from the repository cannot end the fence, move the cursor or be invisible, so it cannot pass for
words of the server. And no answer has more than `token_estimate.MAX_TOKENS` tokens.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from itertools import count as count_up
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.answer_json import (
    BOUNDARY,
    describe_absence,
    describe_author,
    describe_copies,
    describe_currency,
    describe_view,
    first_mentions,
    format_code_note,
)
from gitmem.answering.blame import describe_blame
from gitmem.answering.hit_text import named_hit, repeats_heading
from gitmem.display import count, format_score, visible, visible_code
from gitmem.invisible_characters import CONTROLS, HIDING
from gitmem.mcp.tools.token_estimate import MAX_TOKENS, estimate_tokens
from gitmem.named_tuple import NamedTuple
from gitmem.search.snippet import MAX_LINES, SnippetLine, make_snippet, number_lines

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer
    from gitmem.answering.hit_text import Piece
    from gitmem.records.code_notes import CodeNote
    from gitmem.search.hits import Hit

LOCATIONS: Final = "locations"
FULL: Final = "full"

MAX_NOTES: Final = 5
"""Notes of an answer; further ones are not shown."""

_FENCED_TOKENS: Final = MAX_TOKENS - 500
"""Tokens between the fences; the rest is for notes and the tree."""

_FIRST_RESULTS: Final = 3
_LATER_LINES: Final = 2
"""Lines of the results after the first. Few answers are among them, and a declaration shows whether to read on."""

_UNLIKELY: Final = 0.01
_UNLIKELY_LINES: Final = 1
"""Likelihood below which a result after the first has fewer lines: its declaration tells enough to pass it over."""

_SNIPPET_COLUMNS: Final = 200
_FULL_COLUMNS: Final = 2000
_NOTE_COLUMNS: Final = 300
_DAY: Final = len("2026-01-31")


_TAG: Final = re.compile(r"<[^\w<]*results(?:-?0*(\d{1,9}))?")
"""Beginning of a tag of the fence in normalised text. The rest of the tag does not matter to a lenient reader."""

_BLANKS: Final = re.compile(rf"[\s{CONTROLS}{HIDING}]+")
_ESCAPE: Final = re.compile(r"\\(?:U000([0-9a-fA-F]{5})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_MAX_NESTED_ENTITIES: Final = 3


class Block(NamedTuple):
    """Heading, for example a location, and the lines below it."""

    heading: str
    lines: Sequence[str]

    def text(self) -> str:
        """Return heading and lines as one text."""
        return "\n".join([self.heading, *self.lines])


def render_answer(answer: "Answer", detail: str, notes: Iterable[str] = ()) -> str:
    """Return an answer as text; `detail` is `locations`, `snippet` or `full`."""
    code_notes = first_mentions(answer.code_notes)
    blocks = [render_hit(answer, index, detail, code_notes[index], rank=index) for index in range(len(answer.hits))]
    all_notes = [*notes, *answer.notes]
    if not blocks:
        all_notes.insert(0, describe_absence(answer))
    advice = "ask for fewer results or less detail"
    return render_blocks(blocks, describe_view(answer.view), all_notes, advice)


def render_hit(
    answer: "Answer", index: int, detail: str, code_notes: "Sequence[CodeNote]", *, rank: int, repository: str = ""
) -> Block:
    """Return a hit as a block; `rank` is its place among all hits, which decides about the length of its snippet."""
    hit, lines = answer.hits[index]
    named = named_hit(hit)
    path = f"{repository}:{named.path}" if repository else named.path
    heading = f"{visible(path)}:{named.start_line}-{named.end_line} {visible(named.symbol)}".rstrip()
    change = answer.changes.get(hit.path) or describe_author(answer, hit)
    heading += f" ({change})" if change else _describe_record(answer.records.get(hit.blob, {}))
    described = [*describe_copies(named.copies), *map(format_code_note, code_notes)]
    described += describe_currency(answer.records.get(hit.blob, {}))
    if detail == LOCATIONS or repeats_heading(named, lines):
        return Block(heading, described)
    if answer.query.neighbors:
        return Block(heading, [*described, *_with_adjacent(lines, named.start_line, answer.adjacent[index])])
    if answer.blames and (blame := answer.blames[index]) is not None:
        described[:0] = describe_blame(blame)
    if detail == FULL:
        described.insert(0, _describe_score(answer, hit))
        return Block(heading, [*described, *number_and_escape(number_lines(lines, named.start_line))])
    return Block(heading, [*described, *render_snippet(lines, named, answer.terms, rank)])


def render_snippet(lines: Sequence[str], hit: "Hit", terms: Sequence[str], rank: int) -> list[str]:
    """Return the numbered lines of a chunk that match best; few of them if the rank is not among the first."""
    later = _UNLIKELY_LINES if hit.score < _UNLIKELY else _LATER_LINES
    limit = MAX_LINES if rank < _FIRST_RESULTS else later
    snippet = make_snippet(lines, hit.start_line, terms, hit.symbol, limit)
    # The heading says where the chunk begins and ends, so only gaps between two lines are marked.
    in_file = [place for place, line in enumerate(snippet) if line.number]
    return number_and_escape(snippet[in_file[0] : in_file[-1] + 1] if in_file else [], _SNIPPET_COLUMNS)


def _describe_record(fields: Mapping[str, Any]) -> str:
    """Return type or role, confidence and date of a record; nothing for code."""
    confidence = fields.get("confidence", 1)
    parts = [
        fields.get("role") or fields.get("type", ""),
        f"confidence {confidence:g}" if confidence != 1 else "",
        (fields.get("time") or fields.get("stored", ""))[:_DAY],
    ]
    shown = ", ".join(visible(str(part)) for part in parts if part)
    return f" ({shown})" if shown else ""


def _describe_score(answer: "Answer", hit: "Hit") -> str:
    """Return a line with the score and, if vectors were compared, cosine and distance."""
    cosine = hit.scores["semantic"]
    similarity = "" if answer.is_lexical else f", cosine {cosine:.3f}, distance {1 - cosine:.3f}"
    return f"score {format_score(hit.score)}{similarity}"


def _with_adjacent(lines: Sequence[str], first: int, adjacent: "tuple[Piece | None, Piece | None]") -> list[str]:
    """Return a whole chunk with the chunks before and after it, and a boundary between each two."""
    before, after = adjacent
    chunks = [(before.first, before.lines)] if before else []
    chunks.append((first, list(lines)))
    chunks += [(after.first, after.lines)] if after else []
    numbered = [number_and_escape(number_lines(chunk, start)) for start, chunk in chunks]
    return [line for index, chunk in enumerate(numbered) for line in ([BOUNDARY, *chunk] if index else chunk)]


def number_and_escape(lines: Iterable[SnippetLine], columns: int = _FULL_COLUMNS) -> list[str]:
    """Return lines with their numbers, invisible characters as escapes, longer lines truncated."""
    return [f"{line.number} {visible_code(_truncate(line.text, columns))}" if line.number else "..." for line in lines]


def _truncate(text: str, columns: int) -> str:
    return text if len(text) <= columns else f"{text[:columns]}… ({len(text) - columns:,} more characters)"


def render_blocks(blocks: Sequence[Block], tree: str, notes: Sequence[str], advice: str) -> str:
    """Return the blocks that fit between fences, notes including one about omitted blocks, and the tree if any."""
    shown, omitted = _fit_blocks(blocks)
    all_notes = [_truncate(visible(note), _NOTE_COLUMNS) for note in notes[:MAX_NOTES]]
    if omitted:
        all_notes.append(f"{omitted} omitted, an answer has at most {MAX_TOKENS:,} tokens: {advice}")
    fenced = fence("\n".join(block.text() for block in shown)) if shown else []
    return "\n".join([*fenced, *(f"note: {note}" for note in all_notes), *([f"[{tree}]"] if tree else [])])


def _fit_blocks(blocks: Sequence[Block]) -> tuple[list[Block], str]:
    """Return the blocks that fit, the last one perhaps in part, and a description of the omitted rest."""
    texts = [block.text() for block in blocks]
    # No text has more tokens than bytes. Most answers are this short and need no estimate.
    if sum(1 + len(text.encode()) for text in texts) <= _FENCED_TOKENS:
        return list(blocks), ""
    shown: list[Block] = []
    remaining = _FENCED_TOKENS
    for index, block in enumerate(blocks):
        cost = 1 + estimate_tokens(texts[index])
        if cost <= remaining:
            remaining -= cost
            shown.append(block)
            continue
        part = _fit_lines(block, remaining)
        later = len(blocks) - index - 1
        if not part.lines:
            return shown, count(later + 1, "result")
        omitted = f"{count(len(block.lines) - len(part.lines), 'line')} of the last result"
        return [*shown, part], f"{omitted} and {count(later, 'further result')}" if later else omitted
    return shown, ""


def _fit_lines(block: Block, tokens: int) -> Block:
    """Return a block with the first lines that fit."""
    lines: list[str] = []
    remaining = tokens - 2 - estimate_tokens(block.heading)
    for line in block.lines:
        remaining -= 1 + estimate_tokens(line)
        if remaining < 0:
            break
        lines.append(line)
    return Block(block.heading, lines)


def fence(body: str) -> list[str]:
    """Return the body between two tags with a name that does not occur in the body as a tag, however it is written."""
    taken = {match[1] or "1" for match in _TAG.finditer(_normalise(body))}
    number = next(number for number in count_up(1) if str(number) not in taken)
    name = "results" if number == 1 else f"results-{number}"
    return [f"<{name}>", body, f"</{name}>"]


def _normalise(text: str) -> str:
    """Return text as a lenient reader may see it: entities resolved, one form of each letter, no blanks, no escapes."""
    for _ in range(_MAX_NESTED_ENTITIES):
        # A model may resolve `&amp;lt;` in two steps.
        if "&" not in text:
            break
        text = unescape(text)
    text = _ESCAPE.sub(lambda match: chr(min(int(match[match.lastindex or 0], 16), sys.maxunicode)), text)
    return _BLANKS.sub("", unicodedata.normalize("NFKC", text).casefold())
