"""The suspects of a range as JSON and as lines of text, for the command line and agents."""

from typing import Any, Final

from gitmem.answering.bisect_hint import BisectHint
from gitmem.answering.range_suspects import Suspect, TouchedChunk
from gitmem.display import count, visible

Json = dict[str, Any]

_SHOWN_CHUNKS: Final = 3
"""Chunks that are shown of a commit; JSON has all of them."""


def hint_json(hint: BisectHint, limit: int) -> Json:
    """Return a hint with so many suspects as one object."""
    return {
        "since": hint.since,
        "until": hint.until,
        "commits": hint.total,
        "suspects": [_suspect_json(suspect) for suspect in hint.suspects[:limit]],
        "omitted": max(0, hint.total - limit),
        "notes": hint.notes,
    }


def describe_hint(hint: BisectHint) -> str:
    """Return a line with the range and the number of its commits."""
    return f"{visible(hint.since)}..{visible(hint.until)}: {count(hint.total, 'commit')} without merges"


def chunk_lines(suspect: Suspect) -> list[str]:
    """Return the lines that say why a commit is suspected: search results that it changed, else its best files."""
    # Two results may lie in one definition, and each was traced.
    shown = list(dict.fromkeys(map(_chunk_line, suspect.chunks)))
    more = [f"and {len(shown) - _SHOWN_CHUNKS} more"] if len(shown) > _SHOWN_CHUNKS else []
    return [*shown[:_SHOWN_CHUNKS], *more] or [visible(path) for path in suspect.files]


def _chunk_line(chunk: TouchedChunk) -> str:
    place = f"{chunk.path}#{chunk.symbol}" if chunk.symbol else chunk.path
    return f"{visible(place)}  {', '.join(chunk.kinds)}"


def _suspect_json(suspect: Suspect) -> Json:
    commit = suspect.commit
    return {
        "commit": commit.commit,
        "author": commit.author,
        "email": commit.address,
        "date": commit.date,
        "subject": commit.subject,
        "score": round(suspect.score, 4),
        "evidence": dict(suspect.evidence),
        "chunks": [
            {"path": chunk.path, "symbol": chunk.symbol, "kinds": list(chunk.kinds)} for chunk in suspect.chunks
        ],
        "files": list(suspect.files),
    }
