"""`gitmem open`."""

import os
import sys
from pathlib import Path
from urllib.parse import quote

import click

from gitmem.cli.context import open_here_if_any, write_json
from gitmem.cli.error_output import say
from gitmem.errors import ExitCode
from gitmem.registry import read_registry
from gitmem.workspace import registered_folder


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Only print the link.")
@click.option("--json", "as_json", is_flag=True, help="Print link, address and token as JSON; open nothing.")
@click.pass_context
def command(ctx: click.Context, only_print: bool, as_json: bool) -> ExitCode:
    """Open the web page of this user's repositories.

    A server is started if none runs. The printed link works once, within five minutes: it gives the page to the browser
    that opens it. Over SSH, and without a display, the link is only printed.

    \b
    Examples:
      gitmem open
      gitmem open --print
    """
    from gitmem.web.starting import request_link, show_in_browser, start_server

    if start_server(Path(ctx.obj.folder), os.environ) and not as_json:
        say("gitmem: started a server; `gitmem serve stop` ends it")
    link = request_link(os.environ, _page(ctx))
    if as_json:
        write_json({"link": link.link, "url": link.url, "token": link.token})
        return ExitCode.OK
    print(link.link, flush=True)
    if not only_print:
        show_in_browser(link.link, os.environ, sys.platform)
    return ExitCode.OK


def _page(ctx: click.Context) -> str:
    """Return the page of the repository of the current folder, or the first page outside of one."""
    # A repository that is not registered has no page.
    workspace = open_here_if_any(ctx.obj)
    if workspace is None:
        return "/"
    root = registered_folder(workspace)
    name = next((known.name for known in read_registry(os.environ) if known.path == root), "")
    return f"/?repository={quote(name)}" if name else "/"
