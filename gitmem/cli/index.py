"""`gitmem index`."""

import click

from gitmem.cli.completer import complete
from gitmem.cli.context import is_quiet, open_here, write_json
from gitmem.cli.progress import ProgressLine
from gitmem.cli.run_report import index_json, print_notes, print_report
from gitmem.errors import ExitCode
from gitmem.freshness.cancellation import resume_command
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import refresh
from gitmem.git.locate import describe_head
from gitmem.git.revisions import resolve
from gitmem.workspace import Workspace, require_index


@click.command()
@click.option(
    "--rev",
    metavar="REV",
    shell_complete=complete("revisions"),
    default="",
    help="Index this commit, tag, branch or tree instead of HEAD.",
)
@click.option("--full", is_flag=True, help="Embed everything again.")
@click.option("--no-wait", is_flag=True, help="Fail if another process is writing the index.")
@click.option("--graph", is_flag=True, help="Build or extend the neighbour graph of a large index.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, rev: str, full: bool, no_wait: bool, graph: bool, as_json: bool) -> ExitCode:
    """Bring the index up to date.

    Only blobs that are not indexed yet are read and embedded.

    \b
    Examples:
      gitmem index                  # HEAD and uncommitted files
      gitmem index --rev v2.1       # another revision as well
      gitmem index --full           # embed everything again
    """
    workspace = open_here(ctx)
    tree, name = workspace.location.head_tree, describe_head(workspace.location)
    if rev:
        tree, name = resolve(workspace.location, rev).tree, rev
    with ProgressLine(f"indexing {name}", quiet=is_quiet(ctx) or as_json) as progress:
        report = refresh(
            workspace, tree, uncommitted=not rev, full=full, details=as_json, wait=not no_wait,
            resume=resume_command(rev, full=full), report=progress, on_wait=progress.wait,
        )  # fmt: skip
    start_merges(workspace, report)
    graph_message = _build_graph(ctx, workspace) if graph else start_graph(workspace, report)
    if as_json:
        write_json(index_json(report) | ({"graph": graph_message} if graph_message else {}))
    elif not is_quiet(ctx):
        print_report(report, name)
        print_notes(report)
        if graph_message:
            print(f"  {graph_message}")
    return ExitCode.FAILED if report.problems else ExitCode.OK


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


def _build_graph(ctx: click.Context, workspace: Workspace) -> str:
    from gitmem.freshness.graph_build import build

    with ProgressLine("building the graph", quiet=is_quiet(ctx)) as progress:
        return build(workspace, progress.step)
