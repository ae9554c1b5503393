"""Hits for people and as JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.cli.style import Style
from gitmem.cli.text import count, visible, visible_code
from gitmem.search.snippet import MAX_COLUMNS, SnippetLine, make_snippet, matched_spans

if TYPE_CHECKING:
    from gitmem.actions.query import Answer, ViewState
    from gitmem.search.hits import Hit

SHOWN_LINES: Final = 6
"""Lines of a chunk shown to a person."""

_PATHS_SHOWN: Final = 2
_TAB: Final = "    "


def format_hit(
    hit: "Hit",
    lines: Sequence[str],
    terms: Sequence[str],
    style: Style,
    *,
    full: bool = False,
    around: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> list[str]:
    """A hit as lines: place, symbol and score, then its code with line numbers."""
    before, after = around
    body = make_snippet(lines, hit.start_line, terms, len(lines) if full else SHOWN_LINES)
    shown = [SnippetLine(hit.start_line - len(before) + place, line) for place, line in enumerate(before)]
    shown += body
    shown += [SnippetLine(hit.end_line + 1 + place, line) for place, line in enumerate(after)]
    digits = len(str(hit.end_line + len(after)))
    return [_heading(hit, style), *_also(hit, style), *(_code(line, digits, terms, style) for line in shown)]


def _heading(hit: "Hit", style: Style) -> str:
    place, symbol, score = (
        f"{visible(hit.path)}:{hit.start_line}-{hit.end_line}",
        visible(hit.symbol),
        f"{hit.score:.2f}",
    )
    gap = max(2, min(style.width, MAX_COLUMNS) - len(place) - len(symbol) - len(score) - 2 * bool(symbol))
    return "".join([
        style.paint("path", place), "  " if symbol else "", style.paint("symbol", symbol),
        " " * gap, style.paint("dim", score),
    ])  # fmt: skip


def _also(hit: "Hit", style: Style) -> list[str]:
    if not hit.also:
        return []
    shown = ", ".join(visible(path) for path in hit.also[:_PATHS_SHOWN])
    more = f" and {count(len(hit.also) - _PATHS_SHOWN, 'more file')}" if len(hit.also) > _PATHS_SHOWN else ""
    return [style.paint("dim", f"  the same in {shown}{more}")]


def _code(line: SnippetLine, digits: int, terms: Sequence[str], style: Style) -> str:
    if not line.number:
        return style.paint("dim", f"{'⋮':>{digits + 2}}")
    text = _cut(line.text.replace("\t", _TAB) if style.width else line.text, style, digits)
    number = style.paint("dim", f"{line.number:>{digits + 2}}")
    return f"{number}  {_mark(text, terms, style)}".rstrip()


def _cut(text: str, style: Style, digits: int) -> str:
    limit = min(MAX_COLUMNS, style.width - digits - 4) if style.width else MAX_COLUMNS
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _mark(text: str, terms: Sequence[str], style: Style) -> str:
    if not style.coloured:
        return visible_code(text)
    parts, at = [], 0
    for start, end in matched_spans(text, terms):
        parts += [visible_code(text[at:start]), style.paint("match", visible_code(text[start:end]))]
        at = end
    return "".join(parts) + visible_code(text[at:])


def describe_view(view: "ViewState", milliseconds: float) -> str:
    """The tree an answer is about, whether it is complete, and how long it took."""
    name = view.branch or (view.rev if view.rev != "HEAD" else "detached")
    object_id = (view.commit or view.tree)[:7]
    state = f"stale: {count(view.missing, 'file')} not indexed yet (gitmem index)" if view.stale else "fresh"
    shown = name if name == object_id else f"{name} {object_id}"
    return f"{visible(shown)}, {state}, {milliseconds:.0f} ms"


def hit_json(hit: "Hit", lines: Sequence[str]) -> dict[str, Any]:
    """A hit as plain values."""
    return {
        "kind": "code",
        "path": json_path(hit.path),
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "chunk_type": hit.kind,
        "symbol": hit.symbol,
        "language": hit.language,
        "score": round(hit.score, 6),
        "scores": {name: round(float(value), 6) for name, value in hit.scores.items()},
        "content": "\n".join(lines),
        "blob": hit.blob,
    }


def answer_json(made: "Answer") -> dict[str, Any]:
    """A whole answer as plain values."""
    view = made.view
    return {
        "query": made.request.text,
        "results": [hit_json(hit, lines) for hit, lines in made.hits],
        "view": {"rev": view.rev, "commit": view.commit, "dirty": view.dirty, "stale": view.stale},
        "stats": {**made.stats, "files_missing": view.missing, "notes": made.notes},
    }


def json_path(path: str) -> str:
    """A path as text that any JSON reader takes; bytes that are no UTF-8 are written as git writes them, quoted."""
    if path.isprintable() or not any("\udc80" <= char <= "\udcff" for char in path):
        return path
    return '"' + "".join(_quoted(char) for char in path) + '"'


def _quoted(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\{code - 0xDC00:03o}"
    if char in '"\\':
        return "\\" + char
    return f"\\{code:03o}" if code < 32 or code == 127 else char
