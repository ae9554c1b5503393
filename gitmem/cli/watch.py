"""`gitmem watch`."""

import os
import sys
import threading
from pathlib import Path

import click

from gitmem.actions.watch import WatchEvent, watch
from gitmem.cli.context import is_quiet
from gitmem.display import count, visible


@click.command()
@click.pass_context
def command(ctx: click.Context) -> None:
    """Keep the index up to date with the working tree, until ctrl-C.

    No question needs it: each looks at the working tree itself. It spares them the work where much changes at once,
    as under a code generator. A line is printed for each look that found something to index.

    \b
    Examples:
      gitmem watch
      gitmem -q watch &
    """
    quiet = is_quiet(ctx)

    def tell(looked: WatchEvent) -> None:
        if looked.problem:
            print(f"warning: {visible(looked.problem)}", file=sys.stderr, flush=True)
        elif looked.report and not quiet:
            print(f"{visible(looked.name)}: {count(looked.report.embedded, 'blob')} embedded", flush=True)

    watch(Path(ctx.obj["folder"]), os.environ, tell, threading.Event())
