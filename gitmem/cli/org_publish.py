"""`gitmem org publish`: publish revisions of a repository to a server."""

from functools import partial
from typing import TYPE_CHECKING

import click

from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.org_options import dsn_option, say_result
from gitmem.cli.text_input import json_option
from gitmem.display import count, visible
from gitmem.errors import ExitCode, GitmemError, UsageError
from gitmem.org.connection import open_database
from gitmem.org.retries import try_again
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.org.head_publication import PublishedHead


@click.command()
@click.option("--rev", "revisions", metavar="REV", multiple=True, help="Publish this revision.  [default: HEAD]")
@click.option("--as", "alias", metavar="NAME", default="", help="Name of the revision on the server.")
@click.option("--name", metavar="NAME", default="", help="Name of the repository instead of its folder's.")
@click.option("--default", "is_default", is_flag=True, help="Search this revision by default.")
@click.option(
    "--retry-seconds",
    metavar="SECONDS",
    type=click.IntRange(0, 3600),
    default=60,
    show_default=True,
    help="Try again for so long after a lost connection.",
)
@click.option("--on", "cluster", metavar="ADDRESS", default="", help="Index on the nodes of a Ray cluster.")
@dsn_option
@json_option
@click.pass_context
def publish(
    ctx: click.Context, /, *, revisions: tuple[str, ...], alias: str, name: str, is_default: bool, retry_seconds: int,
    cluster: str, dsn: str, as_json: bool,
) -> ExitCode:  # fmt: skip
    """Publish revisions of this repository: a clone, the checkout of a CI job, or a bare mirror.

    Uploads the blobs that the server lacks, and then replaces the paths of the revision at once. An interrupted run
    leaves the old ones, and the next run continues. The first revision of a repository is the one that queries search;
    `--default` chooses another. A server that restarts, or fails over, is tried again with growing pauses.

    `--on` sends the files that are not indexed yet to the nodes of a cluster (`ray://HOST:10001`), which need the
    same gitmem; `pip install 'gitmem-cli[org,ray]'`. The rows are the same, and only this process publishes them.

    \b
    Examples:
      gitmem org publish
      gitmem org publish --name payments --as main
      gitmem org publish --rev v1.0 --rev v2.0
      gitmem org publish --on ray://head.example.com:10001
    """
    from gitmem.org.head_publication import publish_head  # loads numpy and the search

    if alias and len(revisions) > 1:
        raise UsageError("`--as` names one revision", hint="publish each `--rev` by itself")
    workspace = open_here(ctx.obj)
    repository = _repository_name(workspace, name)
    if cluster:
        from gitmem.cli.org_cluster import index_on_cluster

        index_on_cluster(workspace, revisions or ("HEAD",), cluster, quiet=as_json or ctx.obj.quiet)
    heads = []

    def publish_revision(rev: str) -> "PublishedHead":
        with open_database(dsn or workspace.settings.org) as database:
            return publish_head(workspace, database, repository, rev, alias, is_default=is_default)

    for rev in revisions or ("",):
        head = try_again(partial(publish_revision, rev), retry_seconds, partial(_announce, ctx))
        heads.append(head)
        if not as_json:
            say_result(ctx, _head_line(head))
    if as_json:
        write_json({"published": [head._asdict() for head in heads]})
    return ExitCode.OK


def _repository_name(workspace: Workspace, name: str) -> str:
    """Return the name of a repository on the server, by default that of its folder. Raises UsageError."""
    folder = workspace.location.worktree or workspace.location.git_dir
    repository = name or folder.name.removesuffix(".git")
    if not repository or any(char.isspace() or char in ":*#" for char in repository):
        raise UsageError(f"`{visible(repository)}` cannot be the name of a repository", hint="choose one by `--name`")
    return repository


def _head_line(head: "PublishedHead") -> str:
    state = "published" if head.is_changed else "unchanged"
    added = f"{count(head.blobs, 'blob')} and {count(head.chunks, 'chunk')} new, {head.bytes:,} bytes"
    name = f"{visible(head.repository)} {visible(head.revision)}"
    return f"{state} {name}: {count(head.files, 'file')}, {added}"


def _announce(ctx: click.Context, problem: GitmemError, pause: float) -> None:
    if not ctx.obj.quiet:
        say(f"note: {visible(problem.message)}; trying again in {pause:.1f} s")
