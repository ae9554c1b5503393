"""`gitmem status`."""

import click

from gitmem.cli.session import open_here
from gitmem.workspace import find_index


@click.command()
@click.pass_context
def command(ctx: click.Context) -> int:
    """Say whether the index is up to date and what it holds."""
    manifest = find_index(open_here(ctx))
    print("No Index" if manifest is None else manifest)
    return 0
