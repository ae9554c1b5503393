"""Answers as JSON values, and the line that names their tree: the same for the command line, MCP and HTTP."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.hit_text import named_hit
from gitmem.display import count, visible
from gitmem.memory.kinds import kind_of
from gitmem.search.snippet import join_lines

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer, ViewState
    from gitmem.records.code_notes import CodeNote
    from gitmem.search.explain import Explanation
    from gitmem.search.hits import Hit

BOUNDARY: Final = "[CHUNK BOUNDARY]"
"""Separator between a chunk and an adjacent one in `content`."""


def describe_absence(answer: "Answer") -> str:
    """Return why an answer has no results."""
    if answer.rejected is not None:
        below = count(answer.rejected.number, "result")
        return f"{below} below {answer.rejected.least:.2f}, best {answer.rejected.best:.2f}"
    return "no results; the filters may be the cause" if answer.query.filters.any else "no results"


def describe_view(view: "ViewState") -> str:
    """Return the tree of an answer and its completeness: `main 2ac8988 + 1 uncommitted file, fresh`."""
    # A range has no branch of its own, and a detached HEAD has no name at all.
    range_or_branch = view.rev if ".." in view.rev else view.branch
    name = range_or_branch or (view.rev if view.rev != "HEAD" else "detached")
    object_id = (view.commit or view.tree)[:7] if view.commit or view.source == "commit" else "(no commit yet)"
    text = name if name == object_id else f"{name} {object_id}"
    if view.uncommitted:
        text += " + " + count(view.uncommitted, "staged file" if view.source == "staged" else "uncommitted file")
    return f"{visible(text)}, {_freshness(view)}"


def _freshness(view: "ViewState") -> str:
    if view.missing:
        options = " --uncommitted" if view.uncommitted and view.source == "worktree" else ""
        return f"stale: {count(view.missing, 'file')} not indexed yet (gitmem index{options})"
    return "stale: the uncommitted files are unknown" if view.stale else "fresh"


def explanation_json(explanation: "Explanation") -> dict[str, Any]:
    """Return the explanation of a score as JSON values."""
    features = [
        {
            "name": part.name,
            "value": round(part.value, 6),
            "weight": part.weight,
            "contribution": round(part.contribution, 6),
        }
        for part in explanation.parts
    ]
    return {
        "features": features,
        "sum": round(explanation.total, 6),
        "ranked": round(explanation.ranked, 6),
        "repeat_factor": round(explanation.repeat_factor, 6),
    }


def hit_json(answer: "Answer", index: int, explanation: "Explanation | None" = None) -> dict[str, Any]:
    """Return one hit of an answer as JSON values, with the explanation of its score if there is one.

    `uncommitted` is the change of its file, `record` the fields of a record, `notes` the notes about its code.
    """
    hit, lines = answer.hits[index]
    before, after = answer.adjacent[index]
    # The order is that of the file, so that `content` reads from top to bottom.
    pieces = [before.lines, lines] if before else [lines]
    pieces += [after.lines] if after else []
    change = answer.changes.get(hit.path)
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
        **_similarity(answer, hit),
        "scores": {name: round(float(value), 6) for name, value in hit.scores.items()},
        "content": f"\n{BOUNDARY}\n".join(map(join_lines, pieces)),
        "blob": hit.blob,
        "uncommitted": change,
        "record": answer.records.get(hit.blob),
        "notes": [note._asdict() for note in answer.code_notes[index]],
    }
    return values if explanation is None else {**values, "explain": explanation_json(explanation)}


def _similarity(answer: "Answer", hit: "Hit") -> dict[str, float | None]:
    """Return the cosine of result and query and their distance, null if the mode compares no vectors."""
    cosine = None if answer.is_lexical else round(hit.scores["semantic"], 6)
    return {"cosine": cosine, "distance": None if cosine is None else round(1 - cosine, 6)}


def first_mentions(code_notes: "Sequence[Sequence[CodeNote]]") -> "list[list[CodeNote]]":
    """Return the notes of each hit without those of earlier hits: a reader needs each note once."""
    # Notes are ordered by hit, and the first hit of a note is the best ranked one.
    seen: set[str] = set()
    first = []
    for of_hit in code_notes:
        first.append([note for note in of_hit if note.id not in seen])
        seen.update(note.id for note in of_hit)
    return first


def format_code_note(note: "CodeNote") -> str:
    """Return the line that shows a note below a hit."""
    return f"note {note.id}: {note.text}"


def answer_json(answer: "Answer", explanations: "Sequence[Explanation | None]") -> dict[str, Any]:
    """Return an answer as JSON values; `explanations` has one item for each hit."""
    return {
        "query": answer.query.text,
        "results": [hit_json(answer, index, explanation) for index, explanation in enumerate(explanations)],
        "view": view_json(answer.view),
        "stats": {
            **answer.stats,
            "below_min_score": answer.rejected.number if answer.rejected else 0,
            "files_missing": answer.view.missing,
            "notes": answer.notes,
        },
    }


def view_json(view: "ViewState") -> dict[str, Any]:
    """Return the tree of an answer as JSON values."""
    return {
        "rev": view.rev,
        "commit": view.commit,
        "dirty": view.dirty,
        "stale": view.stale,
        "source": view.source,
        "uncommitted": view.uncommitted,
    }


def json_path(path: str) -> str:
    """Return a path as valid Unicode text: a path that is not UTF-8 is quoted and escaped as git does."""
    # Surrogates stand for bytes that are not UTF-8 (PEP 383), which JSON readers outside Python refuse.
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
