"""Definitions of the past as JSON values and lines: the same for the command line and MCP."""

from typing import Any, Final

from gitmem.answering.answer_json import describe_rejected, json_path
from gitmem.answering.blame import commit_json, describe_commit
from gitmem.answering.past_hit import PastHit
from gitmem.answering.past_search import PastAnswer
from gitmem.display import count, visible
from gitmem.search.snippet import join_lines

_SHORT: Final = 9


def past_json(answer: PastAnswer) -> dict[str, Any]:
    """Return an answer as JSON values."""
    return {
        "query": answer.query,
        "results": [hit_json(hit) for hit in answer.hits],
        "history": {"commit": answer.tip, "commits": answer.commits},
        "stats": {"query_time_ms": answer.milliseconds, "results": len(answer.hits), "notes": answer.notes},
    }


def life_lines(hit: PastHit) -> list[str]:
    """Return the lines that say when a definition lived, and when the shown version of it did."""
    first = f"introduced {describe_commit(hit.introduced)}" if hit.introduced else "older than the indexed history"
    if hit.is_alive:
        last = "still there"
    else:
        last = f"removed {describe_commit(hit.removed)}" if hit.removed else "removed by a merge"
    if hit.versions == 1:
        return [first, last]
    since = f"from {hit.since.commit[:_SHORT]}" if hit.since else "from the start of the indexed history"
    until = "until now" if hit.is_current else f"to {hit.until.commit[:_SHORT]}" if hit.until else "to a merge"
    return [first, last, f"{count(hit.versions, 'version')}; this one {since} {until}"]


def no_past(answer: PastAnswer) -> str:
    """Return why an answer has no results."""
    return describe_rejected(answer.rejected) if answer.rejected else "no results in the history"


def describe_past(answer: PastAnswer) -> str:
    """Return which history was searched."""
    return f"{count(answer.commits, 'commit')} up to {visible(answer.tip[:_SHORT])}"


def hit_json(found: PastHit) -> dict[str, Any]:
    """Return a definition as JSON values."""
    hit = found.hit
    return {
        "path": json_path(hit.path),
        "symbol": hit.symbol,
        "chunk_type": hit.chunk_type,
        "language": hit.language,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "blob": hit.blob,
        "score": round(hit.score, 6),
        "introduced": commit_json(found.introduced),
        "removed": commit_json(found.removed),
        "alive": found.is_alive,
        "versions": found.versions,
        "version": {"since": commit_json(found.since), "until": commit_json(found.until), "current": found.is_current},
        "content": join_lines(found.lines),
    }
