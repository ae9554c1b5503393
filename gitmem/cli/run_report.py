"""The report of an index run, for people and as JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.cli.error_output import say
from gitmem.cli.style import print_line
from gitmem.display import count, duration, shares, size, visible
from gitmem.freshness.index_report import IndexReport

if TYPE_CHECKING:
    from gitmem.freshness.commit_run import CommitReport
    from gitmem.freshness.past_run import PastPlan, PastReport

_BYTES_PER_VERSION = 400
_SECONDS_PER_VERSION = 0.004
_BYTES_PER_SECOND = 4_400_000
"""Size and speed of an index of former code as measured in three repositories: a version takes 210 to 630 bytes, and
the time for its new definitions besides that for its text."""

_LANGUAGES_SHOWN = 8
_LEAST_TEXT = 20_000
"""Bytes of text from which on the size of the index is compared with it."""

_PROBLEMS_SHOWN = 10

_BYTES_PER_COMMIT = 600
_COMMITS_PER_SECOND = 900
_ANNOUNCED_SECONDS = 5
"""Size and speed of an index of messages as measured, and from when on they are worth a line."""


def print_report(report: IndexReport, name: str, *, is_plain: bool = False) -> None:
    """Print a run in a few lines, or in one if there was nothing to do. `is_plain` is a folder without git."""
    if not report.tree:
        remedy = "add a file" if is_plain else "commit something"
        print_line(f"{visible(name)}: nothing to index; {remedy}, then run `gitmem index`")
        return
    if report.up_to_date:
        print(f"up to date: {visible(name)}")
        return
    added = report.chunks_added
    removed = report.chunks_removed
    print_line(
        f"indexed {visible(name)}  {count(report.files, 'file')}  {count(report.chunks_in_view, 'chunk')}  "
        f"{duration(report.seconds)}"
    )
    # A first run has nothing to compare with.
    change = f"; chunks {report.chunks_before:,} -> {report.chunks:,} (+{added:,} -{removed:,})"
    reused = f", {report.reused:,} reused" if report.chunks_before or report.reused else ""
    print_line(f"  {count(report.embedded, 'blob')} embedded{reused}{change if report.chunks_before else ''}")


def print_summary(report: IndexReport, index_bytes: int) -> None:
    """Print the languages, the skipped files, and the size of the index on disk."""
    parts = [f"{name or 'text'} {files:,}" for name, files in report.parsed.most_common(_LANGUAGES_SHOWN)]
    others = report.parsed.total() - sum(files for _, files in report.parsed.most_common(_LANGUAGES_SHOWN))
    if others:
        parts.append(f"{len(report.parsed) - _LANGUAGES_SHOWN} more languages {others:,}")
    if report.as_text:
        parts.append(f"as text {report.as_text.total():,}")
    print_line("  " + (" · ".join(parts) or "no text files"))
    print_skipped(report)
    if report.skipped["large"] and report.details is None:
        # One may be the main class of a library, which nobody would miss in a number.
        print_line("  `gitmem index -v` names the large files; gitmem.maxFileBytes sets their limit")
    # The share of the text is only known if this run read all of it, and says little about a few kilobytes.
    is_first = not report.chunks_before and report.text_bytes >= _LEAST_TEXT
    share = f" ({100 * index_bytes / report.text_bytes:.0f} % of the text)" if is_first else ""
    print_line(f"  .gitmem {size(index_bytes)}{share}")


def print_skipped(report: IndexReport) -> None:
    """Print the number of skipped files by reason, if there are any."""
    if report.skipped:
        print_line(f"  skipped {report.skipped.total():,}: {shares(report.skipped)}")


def print_details(report: IndexReport) -> None:
    """Print every skipped file with its size, the texts in Latin-1, and the extensions without a grammar."""
    if report.details is None:
        return
    for file in report.details.skipped:
        print(f"  {file.line}")
    for path in report.details.latin1:
        print(f"  read as Latin-1: {visible(path)}")
    if report.details.extensions:
        shown = {visible(name): files for name, files in report.details.extensions.items()}
        print_line(f"  without a grammar: {shares(shown)}")


def announce_commits(commits: int) -> None:
    """Print what indexing so many commit messages will cost, if it takes a while."""
    seconds = commits / _COMMITS_PER_SECOND
    if seconds >= _ANNOUNCED_SECONDS:
        cost = f"about {size(commits * _BYTES_PER_COMMIT)} and {duration(seconds)} of one core"
        print_line(f"  {count(commits, 'commit message')} to index: {cost}")


def print_commits(report: "CommitReport") -> None:
    """Print the result of indexing commit messages in one line, and on standard error those that failed."""
    new = f"{report.indexed:,} new, " if report.indexed else "up to date, "
    print_line(f"  {count(report.commits, 'commit message')}  {new}{size(report.index_bytes)}")
    if report.rebuilt:
        print_line(f"  rebuilt: {visible(report.rebuilt)}")
    _print_warnings(report.problems, "commits")


def announce_past(plan: "PastPlan") -> None:
    """Print the cost of indexing the code of the past."""
    seconds = plan.versions * _SECONDS_PER_VERSION + plan.bytes / _BYTES_PER_SECOND
    cost = f"about {size(plan.versions * _BYTES_PER_VERSION)} and {duration(seconds)} of one core"
    print_line(f"  {count(plan.versions, 'version')} of files in {count(plan.commits, 'commit')} to index: {cost}")


def print_past(report: "PastReport") -> None:
    """Print the result of indexing the code of the past in one line, and on standard error the versions that failed."""
    new = f"{report.indexed:,} new, " if report.indexed else "up to date, "
    parts = f"{count(report.versions, 'version')} of files in {count(report.commits, 'commit')}"
    unread = f"{report.unread:,} unreadable, " if report.unread else ""
    print_line(f"  {parts}  {new}{unread}{count(report.chunks, 'definition')}, {size(report.index_bytes)}")
    if report.rebuilt:
        print_line(f"  rebuilt: {visible(report.rebuilt)}")
    _print_warnings(report.problems, "versions")


def print_notes(report: IndexReport) -> None:
    """Print why the index was rebuilt, and on standard error the files that failed."""
    if report.rebuilt:
        print_line(f"  rebuilt: {visible(report.rebuilt)}")
    _print_warnings(report.problems, "files")
    _print_warnings(report.worker_losses, "workers")


def _print_warnings(lines: Sequence[str], things: str) -> None:
    for line in lines[:_PROBLEMS_SHOWN]:
        say(f"warning: {line}")
    if len(lines) > _PROBLEMS_SHOWN:
        say(f"warning: {len(lines) - _PROBLEMS_SHOWN} more {things} like these")
