"""`gitmem uninstall`."""

import os
import sys

import click

from gitmem.actions.uninstall import uninstall
from gitmem.cli.context import open_here
from gitmem.cli.error_output import say
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError


@click.command()
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def command(ctx: click.Context, yes: bool) -> ExitCode:
    """Remove the index, the hooks and the entries for agents from this repository.

    Everything gitmem put there goes, and the repository is byte for byte as it was before.

    \b
    Examples:
      gitmem uninstall
      gitmem uninstall --yes
    """
    workspace = open_here(ctx)
    place = visible(str(workspace.paths.root))
    if not yes:
        _ask(place)
    removed = uninstall(workspace, os.environ)
    what = [place] * removed.index_gone + ["the hooks"] * removed.hooks_gone
    what += [f"the entry in {visible(file)}" for file in removed.files]
    print("removed " + " and ".join(what) if what else "there is no index here; nothing was changed")
    for problem in removed.problems:
        say(f"note: {problem}")
    return ExitCode.OK


def _ask(place: str) -> None:
    if not is_asked_by_a_person():
        raise UsageError(
            "uninstall asks before it removes the index, and nobody can answer", hint="gitmem uninstall --yes"
        )
    if not click.confirm(f"remove {place}?", err=True):
        raise click.exceptions.Exit(1)


def is_asked_by_a_person() -> bool:
    """Whether somebody sits at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()
