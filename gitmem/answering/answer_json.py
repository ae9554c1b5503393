"""Answers as plain values and as the line that names their tree, alike for every front door."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.hit_text import named_hit
from gitmem.display import count, visible
from gitmem.memory.kinds import kind_of

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer, ViewState
    from gitmem.records.code_notes import Remark
    from gitmem.search.explain import Explanation

BOUNDARY: Final = "[CHUNK BOUNDARY]"
"""Stands between a chunk and the one beside it, and nowhere else."""


def describe_view(view: "ViewState") -> str:
    """The tree an answer is about, and whether it is complete: `main 2ac8988 + 1 uncommitted file, fresh`."""
    named = view.rev if ".." in view.rev else view.branch
    name = named or (view.rev if view.rev != "HEAD" else "detached")
    object_id = (view.commit or view.tree)[:7] if view.commit or view.source == "commit" else "(no commit yet)"
    shown = name if name == object_id else f"{name} {object_id}"
    if view.uncommitted:
        shown += " + " + count(view.uncommitted, "staged file" if view.source == "staged" else "uncommitted file")
    return f"{visible(shown)}, {_freshness(view)}"


def _freshness(view: "ViewState") -> str:
    if view.missing:
        return f"stale: {count(view.missing, 'file')} not indexed yet (gitmem index)"
    return "stale: what is uncommitted is not known" if view.stale else "fresh"


def explanation_json(told: "Explanation") -> dict[str, Any]:
    """Why a hit has its score, as plain values."""
    features = [
        {
            "name": part.name,
            "value": round(part.value, 6),
            "weight": part.weight,
            "contribution": round(part.contribution, 6),
        }
        for part in told.parts
    ]
    return {
        "features": features,
        "bias": told.bias,
        "sum": round(told.total, 6),
        "ranked": round(told.ranked, 6),
        "kept": round(told.kept, 6),
    }


def hit_json(made: "Answer", place: int, told: "Explanation | None" = None) -> dict[str, Any]:
    """A hit of an answer as plain values, with what is uncommitted about its file, what is known of a record, and why
    it has its score where that was asked for."""
    hit, lines = made.hits[place]
    pieces = [piece.lines for piece in made.adjacent[place] if piece is not None]
    pieces.insert(0 if made.adjacent[place][0] is None else 1, lines)
    change = made.changes.get(hit.path)
    kind, hit = kind_of(hit.chunk_type), named_hit(hit)
    values = {
        "kind": kind,
        "path": json_path(hit.path),
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "chunk_type": hit.chunk_type,
        "symbol": hit.symbol,
        "language": hit.language,
        "score": round(hit.score, 6),
        "scores": {name: round(float(value), 6) for name, value in hit.scores.items()},
        "content": f"\n{BOUNDARY}\n".join(map("\n".join, pieces)),
        "blob": hit.blob,
        "uncommitted": change,
        "record": made.records.get(hit.blob),
        "notes": [remark._asdict() for remark in made.remarks[place]],
    }
    return values if told is None else {**values, "explain": explanation_json(told)}


def first_mentions(remarks: "Sequence[Sequence[Remark]]") -> "list[list[Remark]]":
    """Each note beside the first hit that it is about, for those who read from top to bottom."""
    told: set[str] = set()
    first = []
    for beside in remarks:
        first.append([remark for remark in beside if remark.id not in told])
        told.update(remark.id for remark in beside)
    return first


def format_remark(remark: "Remark") -> str:
    """A note beside a hit on a line."""
    return f"note {remark.id}: {remark.text}"


def answer_json(made: "Answer", told: "Sequence[Explanation | None]") -> dict[str, Any]:
    """A whole answer as plain values."""
    view = made.view
    return {
        "query": made.query.text,
        "results": [hit_json(made, place, why) for place, why in enumerate(told)],
        "view": {
            "rev": view.rev,
            "commit": view.commit,
            "dirty": view.dirty,
            "stale": view.stale,
            "source": view.source,
            "uncommitted": view.uncommitted,
        },
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
