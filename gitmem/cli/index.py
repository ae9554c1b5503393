"""`gitmem index`."""

import click

from gitmem.cli.completer import complete
from gitmem.cli.context import is_quiet, open_here
from gitmem.cli.index_run import run_index
from gitmem.errors import ExitCode, UsageError
from gitmem.git.locate import describe_head
from gitmem.git.revisions import resolve


@click.command()
@click.option(
    "--rev",
    metavar="REV",
    shell_complete=complete("revisions"),
    default="",
    help="Index this commit, tag, branch or tree instead of HEAD.",
)
@click.option("--uncommitted", is_flag=True, help="Index changed and untracked files as well.")
@click.option("--full", is_flag=True, help="Embed everything again.")
@click.option("--no-wait", is_flag=True, help="Fail if another process is writing the index.")
@click.option("--graph", is_flag=True, help="Build or extend the neighbour graph of a large index.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(
    ctx: click.Context, rev: str, uncommitted: bool, full: bool, no_wait: bool, graph: bool, as_json: bool
) -> ExitCode:
    """Bring the index up to date.

    HEAD and the staged files are indexed; only blobs that are not indexed yet are read and embedded. A query finds and
    indexes all other changed files.

    \b
    Examples:
      gitmem index                  # HEAD and staged files
      gitmem index --uncommitted    # all changed and untracked files as well
      gitmem index --rev v2.1       # another revision as well
      gitmem index --full           # embed everything again
    """
    if rev and uncommitted:
        raise UsageError("`--rev` and `--uncommitted` exclude each other")
    workspace = open_here(ctx)
    tree, name = workspace.location.head_tree, describe_head(workspace.location)
    if rev:
        tree, name = resolve(workspace.location, rev).tree, rev
    return run_index(
        workspace, tree, name, rev=rev, uncommitted=uncommitted, full=full, wait=not no_wait, graph=graph,
        as_json=as_json, quiet=is_quiet(ctx),
    )  # fmt: skip
