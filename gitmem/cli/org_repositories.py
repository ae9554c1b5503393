"""`gitmem org repos` and `gitmem org drop`: list and remove published repositories."""

import click

from gitmem.cli.confirmation import confirm
from gitmem.cli.context import write_json
from gitmem.cli.org_options import dsn_option, org_settings, role_option, say_result
from gitmem.cli.style import print_line
from gitmem.cli.text_input import json_option
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.org.connection import open_database
from gitmem.org.published_repositories import ListedHead, drop_repository, list_heads


@click.command()
@dsn_option
@role_option
@json_option
@click.pass_context
def repos(ctx: click.Context, dsn: str, role: str, as_json: bool) -> ExitCode:
    """List the published repositories that this role may read, with their revisions.

    \b
    Examples:
      gitmem org repos
      gitmem org repos --role alice
    """
    with open_database(dsn or org_settings(ctx).org, role) as database:
        heads = list_heads(database)
    if as_json:
        write_json({"heads": [head._asdict() for head in heads]})
    for head in [] if as_json else heads:
        print_line(_head_line(head))
    return ExitCode.OK


def _head_line(head: ListedHead) -> str:
    if head.revision is None:
        return f"{visible(head.repository)}  not published"
    mark = " (default)" if head.is_default else ""
    sizes = f"{count(head.files, 'file')}, {count(head.chunks, 'chunk')}"
    return f"{visible(head.repository)}  {visible(head.revision)}{mark} {(head.commit or '')[:7]}  {sizes}"


@click.command()
@click.argument("repository", metavar="REPOSITORY")
@click.option("--rev", metavar="NAME", default="", help="Drop only this revision.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@dsn_option
@json_option
@click.pass_context
def drop(ctx: click.Context, repository: str, rev: str, yes: bool, dsn: str, as_json: bool) -> ExitCode:
    """Remove a repository or one of its revisions from the server, and free the blobs that no other has.

    Waits for publishers that are at work. The clone is not touched, so it can be published again. Without `--rev`,
    the records that were shared there go as well; clones that have them keep them.

    \b
    Examples:
      gitmem org drop payments
      gitmem org drop payments --rev v1.0 --yes
    """
    if not yes:
        target = f"revision {visible(rev)} of {visible(repository)}" if rev else visible(repository)
        rest = f" --rev {visible(rev)}" if rev else ""
        confirm(f"remove {target} from the server?", f"gitmem org drop {visible(repository)}{rest} --yes")
    with open_database(dsn or org_settings(ctx).org) as database:
        freed = drop_repository(database, repository, rev)
    if as_json:
        write_json({"repository": repository, "revision": rev or None, "blobs_freed": freed})
    else:
        say_result(ctx, f"dropped {visible(repository)}; {count(freed, 'blob')} freed")
    return ExitCode.OK
