"""Answers as JSON values, and the line that names their tree: the same for the command line, MCP and HTTP."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.answering.blame import blame_json
from gitmem.answering.hit_text import named_hit
from gitmem.display import count, format_score, visible
from gitmem.freshness.tree_selection import WORKTREE
from gitmem.locations import LineRange, Location, format_location
from gitmem.memory.kinds import CODE, kind_of
from gitmem.record import SHARED_BY
from gitmem.search.snippet import join_lines
from gitmem.types import COMMIT

if TYPE_CHECKING:
    from gitmem.answering.answer import Answer, ViewState
    from gitmem.answering.federated_answer import FederatedAnswer
    from gitmem.records.code_notes import CodeNote
    from gitmem.search.engine import Rejected
    from gitmem.search.explain import Explanation
    from gitmem.search.hits import Hit

_DAY: Final = len("2026-01-31")

BOUNDARY: Final = "[CHUNK BOUNDARY]"
"""Separator between a chunk and an adjacent one in `content`."""

_COPIES_SHOWN: Final = 2


def describe_absence(answer: "Answer | FederatedAnswer") -> str:
    """Return why an answer has no results."""
    if answer.rejected is not None:
        return describe_rejected(answer.rejected)
    return "no results; the filters may be the cause" if answer.query.filters.any else "no results"


def describe_rejected(rejected: "Rejected") -> str:
    """Return how many results are below the least score, and the best of them."""
    return f"{count(rejected.number, 'result')} below {_describe_scores(rejected)}"


def _describe_scores(rejected: "Rejected") -> str:
    """Return the least score and the best one below it, with as many digits as tell them apart."""
    for digits in range(2, 6):
        least, best = (f"{score:.{digits}f}" for score in (rejected.least, rejected.best))
        # Rounded, 0.999 is 1.00, and results below 1.00 would not be those that were left out.
        if float(least) == rejected.least and best != least:
            break
    return f"{least}, best {best if float(best) else format_score(rejected.best)}"


def describe_view(view: "ViewState") -> str:
    """Return the tree of an answer and its completeness: `main 2ac8988 + 1 uncommitted file, fresh`."""
    if view.plain:
        return f"{visible(view.plain)}, {_freshness(view)}"
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
        return f"stale: {count(view.missing, 'file')} not indexed yet (gitmem index{view.index_options})"
    return "stale: the uncommitted files are unknown" if view.stale else "fresh"


def describe_copies(copies: Sequence[Location]) -> list[str]:
    """Return lines that name the places with the same text as a hit, and those with nearly the same."""
    same = [place for place in copies if place.lines is None]
    similar = [place for place in copies if place.lines is not None]
    return [
        f"{meaning} in {', '.join(visible(format_location(place)) for place in places[:_COPIES_SHOWN])}"
        + (f" and {count(len(places) - _COPIES_SHOWN, 'more file')}" if len(places) > _COPIES_SHOWN else "")
        for meaning, places in (("the same", same), ("nearly the same", similar))
        if places
    ]


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
        "currency_factor": round(explanation.currency, 6),
    }


def hit_json(
    answer: "Answer", index: int, explanation: "Explanation | None" = None, repository: str = ""
) -> dict[str, Any]:
    """Return one hit of an answer as JSON values, with the explanation of its score if there is one.

    `id` is its location, after the name of a repository if one is given. `uncommitted` is the change of its file,
    `record` the fields of a record, `notes` the notes about its code. `file_uri` is null for a file that need not be in
    the working tree.
    """
    hit, lines = answer.hits[index]
    before, after = answer.adjacent[index]
    # The order is that of the file, so that `content` reads from top to bottom.
    pieces = [before.lines, lines] if before else [lines]
    pieces += [after.lines] if after else []
    change = answer.changes.get(hit.path)
    kind, hit = kind_of(hit.chunk_type), named_hit(hit)
    content = f"\n{BOUNDARY}\n".join(map(join_lines, pieces))
    values = {
        "id": hit_id(hit, repository),
        "kind": kind,
        "path": json_path(hit.path),
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "chunk_type": hit.chunk_type,
        "symbol": hit.symbol,
        "copies": [json_path(format_location(place)) for place in hit.copies],
        "language": hit.language,
        "score": round(hit.score, 6),
        **_similarity(answer, hit),
        "scores": {name: round(float(value), 6) for name, value in hit.scores.items()},
        "content": content,
        "content_hash": hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest(),
        "blob": hit.blob,
        **(_details_json(answer, index, hit.path if kind == CODE else "") if answer.details else {}),
        **({"blame": blame_json(answer.blames[index])} if answer.blames else {}),
        "uncommitted": change,
        "record": answer.records.get(hit.blob),
        "notes": [note._asdict() for note in answer.code_notes[index]],
    }
    return values if explanation is None else {**values, "explain": explanation_json(explanation)}


def _similarity(answer: "Answer", hit: "Hit") -> dict[str, float | None]:
    """Return the cosine of result and query and their distance, null if the mode compares no vectors."""
    cosine = None if answer.is_lexical else round(hit.scores["semantic"], 6)
    return {"cosine": cosine, "distance": None if cosine is None else round(1 - cosine, 6)}


def hit_id(hit: "Hit", repository: str = "") -> str:
    """Return the name by which `get` reads a hit that is named for display (`hit_text.named_hit`)."""
    if kind_of(hit.chunk_type) == CODE:
        location = format_location(Location(hit.path, LineRange(hit.start_line, hit.end_line)))
    else:
        location = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    return json_path(f"{repository}:{location}" if repository else location)


def _details_json(answer: "Answer", index: int, path: str) -> dict[str, Any]:
    """Return what the index knows of the chunk of a hit; `path` is "" for a record."""
    details = answer.details[index]
    in_folder = answer.folder if path and answer.view.source == WORKTREE else None
    return {
        "file_uri": in_folder and (in_folder / path).as_uri(),
        "chunk_index": details.chunk_index,
        "total_chunks": details.total_chunks,
        "file_size_bytes": details.file_bytes,
        "indexed_at": time_json(details.indexed_at),
    }


def time_json(seconds: float | None) -> str | None:
    """Return a time in seconds since 1970 as UTC; None for an unknown one."""
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def describe_author(answer: "Answer", hit: "Hit") -> str:
    """Return date and author of the hit of a commit, or who shared the record of a hit; "" for any other."""
    fields = answer.records.get(hit.blob, {})
    if hit.chunk_type == COMMIT and fields:
        return f"{fields['time'][:_DAY]} {visible(fields['author'].partition(' <')[0])}"
    return f"shared by {visible(fields[SHARED_BY])}" if SHARED_BY in fields else ""


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
    sharer = f", shared by {visible(note.shared_by)}" if note.shared_by else ""
    return f"note {note.id}{sharer}{''.join(f', {mark}' for mark in note.marks)}: {note.text}"


def describe_currency(fields: Mapping[str, Any]) -> list[str]:
    """Return lines that say which notes the note of a hit supersedes, and what makes it doubtful itself."""
    replaced = fields.get("supersedes", ())
    lines = [f"supersedes {', '.join(map(visible, map(str, replaced)))}"] if replaced else []
    return [*lines, *fields.get("state", {}).get("marks", ())]


def answer_json(answer: "Answer", explanations: "Sequence[Explanation | None]") -> dict[str, Any]:
    """Return an answer as JSON values; `explanations` has one item for each hit."""
    return {
        "query": answer.query.text,
        "session": answer.session or None,
        "results": [hit_json(answer, index, explanation) for index, explanation in enumerate(explanations)],
        "view": view_json(answer.view),
        "stats": {
            **answer.stats,
            "below_min_score": answer.rejected.number if answer.rejected else 0,
            "best_below_min_score": best_rejected(answer.rejected),
            "files_missing": answer.view.missing,
            "notes": answer.notes,
        },
    }


def best_rejected(rejected: "Rejected | None") -> float | None:
    """Return the highest score of the results that were left out, None if there are none."""
    return round(rejected.best, 6) if rejected else None


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
