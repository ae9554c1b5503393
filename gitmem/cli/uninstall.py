"""`gitmem uninstall`."""

import os

import click

from gitmem.actions.uninstall import uninstall
from gitmem.cli.confirmation import confirm
from gitmem.cli.context import open_here
from gitmem.cli.error_output import say
from gitmem.display import visible
from gitmem.errors import ExitCode


@click.command()
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def command(ctx: click.Context, yes: bool) -> ExitCode:
    """Remove the index, the hooks and the entries for agents from this repository.

    Afterwards the repository is byte for byte as it was before. Notes, documents and conversations stay in git.

    \b
    Examples:
      gitmem uninstall
      gitmem uninstall --yes
    """
    workspace = open_here(ctx)
    folder = visible(str(workspace.paths.root))
    if not yes:
        confirm(f"remove {folder}?", "gitmem uninstall --yes")
    removed = uninstall(workspace, os.environ)
    items = [folder] * removed.index_gone + ["the hooks"] * removed.hooks_gone
    items += [f"the entry in {visible(file)}" for file in removed.files]
    print("removed " + " and ".join(items) if items else "there is no index here; nothing was changed")
    for problem in removed.problems:
        say(f"note: {problem}")
    return ExitCode.OK
