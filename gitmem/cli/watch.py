"""`gitmem watch`."""

import os
import threading
from pathlib import Path

import click

from gitmem.actions.watch import WatchEvent, watch
from gitmem.cli.command_service import serve_commands
from gitmem.cli.context import open_here
from gitmem.cli.error_output import say
from gitmem.display import count, visible
from gitmem.resident.repositories import OpenRepositories


@click.command()
@click.pass_context
def command(ctx: click.Context) -> None:
    """Keep the index up to date with the working tree, until ctrl-C.

    Queries do not need it: each compares the working tree itself. Watching moves that work into the background when
    many files change at once, for example under a code generator. Each run that indexed something prints a line.
    Meanwhile it also answers `gitmem query` and other reading commands, which are faster then.

    \b
    Examples:
      gitmem watch
      gitmem -q watch &
    """
    quiet = ctx.obj.quiet

    def report(event: WatchEvent) -> None:
        if event.problem:
            say(f"warning: {event.problem}")
        elif event.report and not quiet:
            print(f"{visible(event.name)}: {count(event.report.embedded, 'blob')} embedded", flush=True)

    folder = Path(ctx.obj.folder).absolute()
    open_here(ctx.obj)  # an invalid configuration ends the command before it listens
    with serve_commands("gitmem watch")(OpenRepositories(folder, os.environ)):
        watch(folder, os.environ, report, threading.Event())
