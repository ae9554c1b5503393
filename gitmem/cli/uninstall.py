"""`gitmem uninstall`."""

import os

import click

from gitmem.actions.install import Installer
from gitmem.actions.uninstall import uninstall
from gitmem.cli.confirmation import confirm
from gitmem.cli.context import open_here
from gitmem.cli.error_output import say
from gitmem.cli.install import ClientName, find_location
from gitmem.display import visible
from gitmem.errors import ExitCode


@click.command()
@click.argument("clients", nargs=-1, type=ClientName(), metavar="[CLIENT]...")
@click.option("--global", "everywhere", is_flag=True, help="Remove the entries in your own files, for all projects.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def command(ctx: click.Context, clients: tuple[str, ...], everywhere: bool, yes: bool) -> ExitCode:
    """Remove the index, the hooks and the entries for agents from this repository.

    Afterwards the repository is byte for byte as it was before. Notes, documents and conversations stay in git.

    With names of clients only their entries are removed. Entries in your own files for all projects are removed with
    `--global` only, and nothing else then.

    \b
    Examples:
      gitmem uninstall
      gitmem uninstall cursor
      gitmem uninstall --global
      gitmem uninstall --yes
    """
    if clients or everywhere:
        return _remove_entries(ctx, clients, everywhere)
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


def _remove_entries(ctx: click.Context, clients: tuple[str, ...], everywhere: bool) -> ExitCode:
    files, problems = Installer(find_location(ctx), os.environ).uninstall(clients, everywhere=everywhere)
    items = [f"the entry in {visible(file)}" for file in files]
    print("removed " + " and ".join(items) if items else "gitmem has added no such entry; nothing was changed")
    for problem in problems:
        say(f"note: {visible(problem)}")
    return ExitCode.FAILED if problems else ExitCode.OK
