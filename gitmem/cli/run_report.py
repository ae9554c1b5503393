"""What an index run did, for people and as JSON."""

import sys
from typing import Any

from gitmem.display import count, duration, shares, size, visible
from gitmem.freshness.index_report import IndexReport

_LANGUAGES_SHOWN = 8
_PROBLEMS_SHOWN = 10


def print_report(made: IndexReport, name: str) -> None:
    """A run in a few lines; one line where there was nothing to do."""
    if not made.tree:
        print(f"{visible(name)}: nothing to index; commit something, then run `gitmem index`")
        return
    if made.up_to_date:
        print(f"up to date: {visible(name)}")
        return
    added = made.chunks_added
    removed = made.chunks_before + added - made.chunks
    print(
        f"indexed {visible(name)}  {count(made.files, 'file')}  {count(made.chunks_in_view, 'chunk')}  "
        f"{duration(made.seconds)}"
    )
    print(f"  {count(made.embedded, 'blob')} embedded, {made.reused:,} reused; chunks {made.chunks_before:,} -> "
          f"{made.chunks:,} (+{added:,} -{removed:,})")  # fmt: skip


def print_summary(made: IndexReport, stored: int) -> None:
    """Languages, what was skipped, and the bytes that the index takes on disk."""
    parts = [f"{name or 'text'} {files:,}" for name, files in made.parsed.most_common(_LANGUAGES_SHOWN)]
    others = made.parsed.total() - sum(files for _, files in made.parsed.most_common(_LANGUAGES_SHOWN))
    if others:
        parts.append(f"{len(made.parsed) - _LANGUAGES_SHOWN} more languages {others:,}")
    if made.as_text:
        parts.append(f"as text {made.as_text.total():,}")
    print("  " + (" · ".join(parts) or "no text files"))
    if made.skipped:
        print(f"  skipped {made.skipped.total():,}: {shares(made.skipped)}")
    whole = not made.chunks_before and made.text_bytes
    share = f" ({100 * stored / made.text_bytes:.0f} % of the text)" if whole else ""
    print(f"  .gitmem {size(stored)}{share}")


def print_notes(made: IndexReport) -> None:
    """What else there is to say: why the index was built anew, and which files failed (on standard error)."""
    if made.rebuilt:
        print(f"  rebuilt: {visible(made.rebuilt)}")
    for line in made.problems[:_PROBLEMS_SHOWN]:
        print(f"warning: {visible(line)}", file=sys.stderr)
    if len(made.problems) > _PROBLEMS_SHOWN:
        print(f"warning: {len(made.problems) - _PROBLEMS_SHOWN} more files like these", file=sys.stderr)


def index_json(made: IndexReport) -> dict[str, Any]:
    """A run as plain values."""
    return {
        "tree": made.tree,
        "status": made.status,
        "up_to_date": made.up_to_date,
        "files": made.files,
        "parsed": dict(made.parsed),
        "as_text": dict(made.as_text),
        "skipped": dict(made.skipped),
        "blobs_embedded": made.embedded,
        "blobs_reused": made.reused,
        "chunks": made.chunks,
        "chunks_in_tree": made.chunks_in_view,
        "chunks_before": made.chunks_before,
        "chunks_added": made.chunks_added,
        "chunks_removed": max(0, made.chunks_before + made.chunks_added - made.chunks),
        "text_bytes": made.text_bytes,
        "index_bytes": made.index_bytes,
        "seconds": round(made.seconds, 3),
        "rebuilt": made.rebuilt,
        "problems": made.problems,
    }
