"""Hits for people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gitmem.answering.answer_json import BOUNDARY, format_remark
from gitmem.cli.style import Style
from gitmem.display import count, visible, visible_code
from gitmem.search.snippet import SnippetLine, make_snippet, matched_spans, number_lines

if TYPE_CHECKING:
    from gitmem.answering.hit_text import Piece
    from gitmem.records.code_notes import Remark
    from gitmem.search.explain import Explanation
    from gitmem.search.hits import Hit

MAX_COLUMNS: Final = 200
"""Longer lines are cut, for a narrower terminal earlier."""

_WHOLE: Final = 0.9999
"""A share of a score that is all of it, but for rounding."""

_PATHS_SHOWN: Final = 2
_TAB: Final = "    "


def format_hit(
    hit: "Hit",
    lines: Sequence[str],
    terms: Sequence[str],
    style: Style,
    *,
    change: str = "",
    full: bool = False,
    around: tuple[Sequence[str], Sequence[str]] = ((), ()),
    beside: "tuple[Piece | None, Piece | None]" = (None, None),
    remarks: "Sequence[Remark]" = (),
) -> list[str]:
    """A hit as lines: place, what is uncommitted there, symbol and score, the notes about it, then its code with line
    numbers, with the lines around it or the chunks beside it."""
    before, after = around
    first = hit.start_line
    body = number_lines(lines, first) if full else make_snippet(lines, first, terms, hit.symbol)
    own = [*number_lines(before, first - len(before)), *body, *number_lines(after, hit.end_line + 1)]
    sides = [number_lines(piece.lines, piece.first) if piece else None for piece in beside]
    parts = [part for part in (sides[0], own, sides[1]) if part is not None]
    digits = len(str(max([hit.end_line + len(after), *(part[-1].number for part in sides if part)])))
    shown = [[_code(line, digits, terms, style) for line in part] for part in parts]
    notes = [style.paint("dim", f"  {format_remark(remark)}") for remark in remarks]
    return [_heading(hit, change, style), *_also(hit, style), *notes, *_divided(shown, style)]


def _divided(parts: Sequence[Sequence[str]], style: Style) -> list[str]:
    """The lines of chunks with a mark between each two."""
    boundary = style.paint("dim", BOUNDARY)
    return [line for place, part in enumerate(parts) for line in ([boundary, *part] if place else part)]


def _heading(hit: "Hit", change: str, style: Style) -> str:
    place = f"{visible(hit.path)}:{hit.start_line}-{hit.end_line}"
    parts = [("path", place), *([("dim", change)] if change else []), ("symbol", visible(hit.symbol))]
    parts = [(name, text) for name, text in parts if text]
    score = f"{hit.score:.2f}"
    gap = min(style.width, MAX_COLUMNS) - sum(len(text) + 2 for _, text in parts) + 2 - len(score)
    return "  ".join(style.paint(name, text) for name, text in parts) + " " * max(2, gap) + style.paint("dim", score)


def _also(hit: "Hit", style: Style) -> list[str]:
    if not hit.other_paths:
        return []
    shown = ", ".join(visible(path) for path in hit.other_paths[:_PATHS_SHOWN])
    more = (
        f" and {count(len(hit.other_paths) - _PATHS_SHOWN, 'more file')}" if len(hit.other_paths) > _PATHS_SHOWN else ""
    )
    return [style.paint("dim", f"  the same in {shown}{more}")]


def _code(line: SnippetLine, digits: int, terms: Sequence[str], style: Style) -> str:
    """A numbered line. It is set in on a terminal; what reads it elsewhere may pay for every character."""
    margin = "  " if style.width else ""
    if not line.number:
        return margin + style.paint("dim", "⋮".rjust(digits) if style.width else "...")
    text = _cut(line.text.replace("\t", _TAB) if style.width else line.text, terms, style, digits)
    number = style.paint("dim", f"{line.number:>{digits}}")
    return f"{margin}{number}  {_mark(text, terms, style)}".rstrip()


def _cut(text: str, terms: Sequence[str], style: Style, digits: int) -> str:
    """As much of a line as there is room for, from where it first matches if that would be cut off."""
    limit = min(MAX_COLUMNS, style.width - digits - 4) if style.width else MAX_COLUMNS
    if len(text) <= limit:
        return text
    matched = next(iter(matched_spans(text, terms)), (0, 0))
    if matched[1] < limit:
        return text[: limit - 1] + "…"
    start = min(matched[0] - limit // 3, len(text) - limit + 1)
    piece = text[start : start + limit - 1]
    return "…" + piece if start + len(piece) == len(text) else f"…{piece[:-1]}…"


def _mark(text: str, terms: Sequence[str], style: Style) -> str:
    if not style.coloured:
        return visible_code(text)
    parts, at = [], 0
    for start, end in matched_spans(text, terms):
        parts += [visible_code(text[at:start]), style.paint("match", visible_code(text[start:end]))]
        at = end
    return "".join(parts) + visible_code(text[at:])


def format_explanation(told: "Explanation", hit: "Hit", style: Style) -> list[str]:
    """Why a hit has its score, in aligned columns: value, weight and contribution of what counts."""
    rows = [
        (part.name, f"{part.value:.3f} x ", f"{part.weight:.3f} = ", f"{part.contribution:+.3f}")
        for part in told.parts
        if part.contribution
    ]
    rows += [("bias", "", "", f"{told.bias:+.3f}"), ("sum", "", "", f"{told.total:+.3f}")]
    first, *widths = [max(len(row[column]) for row in rows) for column in range(4)]
    columns = ["  ".join(["", name.ljust(first), "".join(map(str.rjust, numbers, widths))]) for name, *numbers in rows]
    found = f"  found by meaning {hit.scores['semantic']:.3f}, by words {hit.scores['lexical']:.3f}"
    score = f"  score {told.ranked:.3f}"
    if told.repeat_factor < _WHOLE:
        score += f", x {told.repeat_factor:.3f} as a further chunk of its file = {hit.score:.3f}"
    return [style.paint("dim", line) for line in (found, *columns, score)]
