"""Format hits for people: heading, notes, snippet or chunk with line numbers, and the explanation of the score."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gitmem.answering.answer_json import BOUNDARY, describe_copies, format_code_note
from gitmem.answering.blame import describe_blame
from gitmem.answering.hit_text import repeats_heading
from gitmem.cli.style import Style, fold
from gitmem.display import format_score, visible, visible_code
from gitmem.search.snippet import SnippetLine, make_snippet, matched_spans, number_lines

if TYPE_CHECKING:
    from gitmem.answering.blame import Blame
    from gitmem.answering.hit_text import Piece
    from gitmem.records.code_notes import CodeNote
    from gitmem.search.explain import Explanation
    from gitmem.search.hits import Hit

MAX_COLUMNS: Final = 200
"""Maximum length of a line of code; less on a narrower terminal."""

_UNDAMPED: Final = 0.9999
"""Shares of a score above this are 1 except for rounding."""

_ALWAYS_EXPLAINED: Final = ("semantic", "lexical", "query", "sum")
_MIN_GAP: Final = 2
_TAB: Final = "    "


def format_hit(
    hit: "Hit",
    lines: Sequence[str],
    terms: Sequence[str],
    style: Style,
    *,
    change: str = "",
    full: bool = False,
    context: tuple[Sequence[str], Sequence[str]] = ((), ()),
    adjacent: "tuple[Piece | None, Piece | None]" = (None, None),
    code_notes: "Sequence[CodeNote]" = (),
    blame: "Blame | None" = None,
    currency: Sequence[str] = (),
) -> list[str]:
    """Return the lines that show a hit.

    The heading has location, uncommitted change, symbol and score. Below come identical files, commits, the `currency`
    of a note, notes about the code, and the code with line numbers: a snippet or, with `full`, the whole chunk, with
    context lines or adjacent chunks.
    """
    commits = describe_blame(blame) if blame else ()
    notes = [*describe_copies(hit.copies), *commits, *currency, *map(format_code_note, code_notes)]
    heading = [*_heading(hit, change, style), *(_dim(f"  {line}", style) for line in notes)]
    if repeats_heading(hit, lines):
        return heading
    before, after = context
    first = hit.start_line
    body = number_lines(lines, first) if full else make_snippet(lines, first, terms, hit.symbol)
    own = [*number_lines(before, first - len(before)), *body, *number_lines(after, hit.end_line + 1)]
    sides = [number_lines(piece.lines, piece.first) if piece else None for piece in adjacent]
    parts = [part for part in (sides[0], own, sides[1]) if part is not None]
    # The line numbers of all parts are aligned, so the widest decides.
    digits = len(str(max([hit.end_line + len(after), *(part[-1].number for part in sides if part)])))
    code = [[_code(line, digits, terms, style) for line in part] for part in parts]
    return [*heading, *_join_parts(code, style)]


def _join_parts(parts: Sequence[Sequence[str]], style: Style) -> list[str]:
    """Join the lines of chunks with a boundary line between them."""
    boundary = style.paint("dim", BOUNDARY)
    return [line for index, part in enumerate(parts) for line in ([boundary, *part] if index else part)]


def _dim(text: str, style: Style) -> str:
    """Return a line of prose, dim, and broken between words on a terminal."""
    lines = (fold(text, style.width) if style.width else text).split("\n")
    return "\n".join(style.paint("dim", line) for line in lines)


def _heading(hit: "Hit", change: str, style: Style) -> list[str]:
    location = f"{visible(hit.path)}:{hit.start_line}-{hit.end_line}"
    parts = [("path", location), *([("dim", change)] if change else []), ("symbol", visible(hit.symbol))]
    parts = [(name, text) for name, text in parts if text]
    score = format_score(hit.score)
    gap = min(style.width, MAX_COLUMNS) - sum(len(text) + 2 for _, text in parts) + 2 - len(score)
    if style.width and gap < _MIN_GAP and len(parts) > 1:
        # Too long for one line: the path stays whole, and the symbol gets a line of its own.
        first = style.paint(*parts[0])
        return [first, "  " + "  ".join(style.paint(*part) for part in [*parts[1:], ("dim", score)])]
    heading = "  ".join(style.paint(name, text) for name, text in parts)
    return [heading + " " * max(_MIN_GAP, gap) + style.paint("dim", score)]


def _code(line: SnippetLine, digits: int, terms: Sequence[str], style: Style) -> str:
    """Return a line of code with its number. Only a terminal gets an indent: a program may pay for every character."""
    margin = "  " if style.width else ""
    if not line.number:
        return margin + style.paint("dim", "⋮".rjust(digits) if style.width else "...")
    text = _cut(line.text.replace("\t", _TAB) if style.width else line.text, terms, style, digits)
    number = style.paint("dim", f"{line.number:>{digits}}")
    return f"{margin}{number}  {_mark(text, terms, style)}".rstrip()


def _cut(text: str, terms: Sequence[str], style: Style, digits: int) -> str:
    """Cut a line to the available width. If the cut would lose the first match, keep the part around the match."""
    limit = min(MAX_COLUMNS, style.width - digits - 4) if style.width else MAX_COLUMNS
    if len(text) <= limit:
        return text
    match_start, match_end = next(iter(matched_spans(text, terms)), (0, 0))
    if match_end < limit:
        return text[: limit - 1] + "…"
    start = min(match_start - limit // 3, len(text) - limit + 1)
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


def format_explanation(explanation: "Explanation", hit: "Hit", style: Style) -> list[str]:
    """Return the explanation of a score in aligned columns: feature, value, weight and contribution."""
    rows = [
        (part.name, f"{part.value:.3f} x ", f"{part.weight:.3f} = ", f"{part.contribution:+.3f}")
        for part in explanation.parts
        if part.contribution
    ]
    rows.append(("sum", "", "", f"{explanation.total:+.3f}"))
    first, *widths = [max(len(row[column]) for row in rows) for column in range(4)]
    columns = ["  ".join(["", name.ljust(first), "".join(map(str.rjust, numbers, widths))]) for name, *numbers in rows]
    retrieval = f"  semantic {hit.scores['semantic']:.3f}, lexical {hit.scores['lexical']:.3f}"
    score = f"  score {explanation.ranked:.3f}"
    if explanation.currency != 1:
        reason = "because it is outdated" if explanation.currency < 1 else "because it replaces a better match"
        score += f", x {explanation.currency:.3f} {reason}"
    if explanation.repeat_factor < _UNDAMPED:
        score += f", x {explanation.repeat_factor:.3f} as a further chunk of its file = {hit.score:.3f}"
    return [style.paint("dim", line) for line in (retrieval, *columns, score)]


def format_legend(explanations: "Iterable[Explanation]", legend: Mapping[str, str], style: Style) -> list[str]:
    """Return a line for each name that occurs in some explanations, with its meaning."""
    named = {part.name for explanation in explanations for part in explanation.parts if part.contribution}
    names = [name for name in legend if name in named or name in _ALWAYS_EXPLAINED]
    width = max(map(len, names))
    return [style.paint("dim", line) for line in ["legend", *(f"  {name:<{width}}  {legend[name]}" for name in names)]]
