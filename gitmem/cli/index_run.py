"""Run the indexing of a tree for the command line, with progress and report. Does not import click."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from gitmem.cli.progress import ProgressLine
from gitmem.cli.run_report import (
    announce_commits,
    announce_past,
    print_commits,
    print_details,
    print_notes,
    print_past,
    print_report,
    print_skipped,
    print_summary,
)
from gitmem.errors import ExitCode, StorageFailed
from gitmem.freshness.cancellation import resume_command
from gitmem.freshness.commit_index import RESUME as PAST_RESUME
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.named_tuple import NamedTuple
from gitmem.records.filters import parse_filters
from gitmem.workspace import Workspace, require_index

if TYPE_CHECKING:
    from gitmem.freshness.commit_run import CommitReport
    from gitmem.freshness.past_run import PastPlan, PastReport


class IndexOptions(NamedTuple):
    """Options of `gitmem index`, see its help."""

    rev: str = ""
    uncommitted: bool = False
    full: bool = False
    wait: bool = True
    graph: bool = False
    history: bool = False
    since: int | None = None
    background: bool = False
    verbose: bool = False
    as_json: bool = False
    quiet: bool = False


def run_index(
    workspace: Workspace,
    tree: str | None,
    name: str,
    options: IndexOptions,
    put: Callable[[dict[str, Any]], None] | None = None,
) -> ExitCode:
    """Index a tree, called `name`, and report it. Without `rev` it is HEAD's, and staged files belong to it.

    `put` receives the report as JSON values instead of standard output.
    """
    rev, full, uncommitted, quiet = options.rev, options.full, options.uncommitted, options.quiet
    with ProgressLine(f"indexing {name}", quiet=quiet or options.as_json) as progress:
        settings = RefreshSettings(
            staged=not rev, uncommitted=uncommitted, full=full, details=options.as_json, list_files=options.verbose,
            wait=options.wait, switches_model=True, resume=resume_command(rev, full=full, uncommitted=uncommitted),
        )  # fmt: skip
        report = refresh(workspace, tree, settings, report=progress, on_wait=progress.wait, announce=progress.announce)
    start_merges(workspace, report)
    graph_message = _build_graph(workspace, quiet=quiet) if options.graph else start_graph(workspace, report)
    if not (options.as_json or quiet):
        print_report(report, name, is_plain=workspace.location.plain)
        if report.tree and (options.verbose or not (report.up_to_date or report.chunks_before)):
            print_summary(report, report.index_bytes)
        elif not report.up_to_date:
            print_skipped(report)
        print_notes(report)
        print_details(report)
        if graph_message:
            print(f"  {graph_message}")
    if options.history and options.background:
        return _start_history(workspace, report, options, put)
    commits = _index_commits(workspace, options) if options.history else None
    past = _index_past(workspace, options) if options.history else None
    if options.as_json:
        from gitmem.cli.context import write_json  # imports click

        parts = {"graph": graph_message, "history": commits and commits.as_json(), "past": past and past.as_json()}
        (put or write_json)(report.as_json() | {key: part for key, part in parts.items() if part})
    problems = [*report.problems, *(commits.problems if commits else ()), *(past.problems if past else ())]
    return ExitCode.FAILED if problems else ExitCode.OK


def _index_commits(workspace: Workspace, options: IndexOptions) -> "CommitReport":
    """Index the commit messages with progress, and report them."""
    from gitmem.freshness.commit_run import index_commits

    quiet = options.quiet or options.as_json

    def announce(commits: int) -> None:
        if not quiet:
            announce_commits(commits)

    with ProgressLine("indexing commits", quiet=quiet, item="commit") as progress:
        report = index_commits(workspace, wait=options.wait, report=progress, on_wait=progress.wait, on_start=announce)
    if not quiet:
        print_commits(report)
    return report


def _index_past(workspace: Workspace, options: IndexOptions) -> "PastReport":
    """Index the code of the past with progress, and report it."""
    from gitmem.freshness.past_run import index_past

    quiet = options.quiet or options.as_json

    def announce(plan: "PastPlan") -> None:
        if not quiet:
            announce_past(plan)

    with ProgressLine("indexing the past", quiet=quiet, item="version") as progress:
        report = index_past(
            workspace, since=options.since, wait=options.wait, report=progress, on_wait=progress.wait, on_start=announce
        )
    if not quiet:
        print_past(report)
    return report


def _start_history(
    workspace: Workspace, report: IndexReport, options: IndexOptions, put: Callable[[dict[str, Any]], None] | None
) -> ExitCode:
    """Print the cost of indexing the past, and start it in the background."""
    from gitmem.freshness.background import start_history_run
    from gitmem.freshness.past_run import plan_past

    plan = plan_past(workspace, options.since)
    started = start_history_run(workspace, options.since)
    if options.as_json:
        from gitmem.cli.context import write_json

        (put or write_json)(report.as_json() | {"past": plan._asdict() | {"background": started}})
    elif not options.quiet:
        announce_past(plan)
        print("  it runs in the background: `gitmem status` shows it, `gitmem cancel` stops it")
    if not started:
        raise StorageFailed("the index of the past cannot be written in the background", hint=f"run `{PAST_RESUME}`")
    return ExitCode.FAILED if report.problems else ExitCode.OK


def parse_since(text: str) -> int | None:
    """Return a date or time as seconds since 1970; None for no text. Raises UsageError."""
    if not text:
        return None
    return int(datetime.fromisoformat(parse_filters(since=text).since).timestamp())


def start_merges(workspace: Workspace, report: IndexReport) -> None:
    """Merge segments in the background if a run left merges that were too large for it."""
    if report.up_to_date:
        return
    from gitmem.freshness import background
    from gitmem.freshness.compaction import is_due

    if is_due(require_index(workspace)):
        background.start_background_refresh(workspace)


def start_graph(workspace: Workspace, report: IndexReport) -> str:
    """Start building the neighbour graph in the background if a run changed the index; return a message or ""."""
    if report.up_to_date:
        return ""
    from gitmem.freshness.graph_build import start_if_behind

    return start_if_behind(workspace)


def _build_graph(workspace: Workspace, *, quiet: bool) -> str:
    from gitmem.freshness.graph_build import build

    with ProgressLine("building the graph", quiet=quiet) as progress:
        return build(workspace, progress.step)
