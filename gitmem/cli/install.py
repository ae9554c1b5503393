"""`gitmem install`."""

import os
import shlex
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path

import click

from gitmem.actions.install import Installer
from gitmem.cli.error_output import say
from gitmem.cli.shown_secrets import shown_text
from gitmem.display import visible
from gitmem.errors import ExitCode, NotARepository, UsageError
from gitmem.git.locate import RepositoryLocation, locate
from gitmem.install.clients import CLIENTS, GLOBAL, LOCAL, PROJECT


class ClientName(click.Choice[str]):
    """Name of a client; an unknown one gets a suggestion and the list."""

    def __init__(self) -> None:
        super().__init__(list(CLIENTS))

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002 (click's signature)
        if value in CLIENTS:
            return value
        near = get_close_matches(value, CLIENTS, 1)
        suggestion = f", did you mean `{near[0]}`?" if near else ""
        raise UsageError(f"no such client: `{value}`{suggestion}", hint=f"one of {', '.join(CLIENTS)}")


@click.command()
@click.argument("clients", nargs=-1, type=ClientName(), metavar="[CLIENT]...")
@click.option("--all", "all_clients", is_flag=True, help="Register with every client that is installed here.")
@click.option("--global", "scope", flag_value=GLOBAL, help="Write your own file of the client, for all projects.")
@click.option("--local", "scope", flag_value=LOCAL, help="Write your own file, for this project (Claude Code).")
@click.option(
    "--command", "program", metavar="TEXT", default="", help="Command that starts gitmem, for example `uvx ...`."
)
@click.option("--guide", is_flag=True, help="Add a short block to CLAUDE.md, GEMINI.md or AGENTS.md as well.")
@click.option("--print", "only_print", is_flag=True, help="Print the entries instead of writing them.")
@click.option("--list", "only_list", is_flag=True, help="List the entries of all clients.")
@click.pass_context
def command(
    ctx: click.Context,
    clients: tuple[str, ...],
    all_clients: bool,
    scope: str | None,
    program: str,
    guide: bool,
    only_print: bool,
    only_list: bool,
) -> ExitCode:
    """Register the MCP server with agents' clients.

    Adds the server to the project's file of each client (`.mcp.json` for Claude Code) and changes nothing else in it.
    That entry names the program without a path and can be committed. With `--global` or `--local` the entry is in a
    file of your own and has the absolute path. Then the server is started once as the client will start it.
    `gitmem uninstall CLIENT` removes the entry.

    \b
    Clients: claude claude-desktop cursor codex vscode zed gemini opencode copilot
      windsurf cline kiro jetbrains goose amp

    \b
    Examples:
      gitmem install claude
      gitmem install cursor vscode --guide
      gitmem install --all --global
      gitmem install codex --print
      gitmem install --list
    """
    installer = Installer(find_location(ctx), os.environ)
    scope, words = scope or PROJECT, shlex.split(program)
    if only_list:
        _print_entries(installer)
        return ExitCode.OK
    names = _choose(installer, clients, all_clients, scope)
    if only_print:
        print("\n".join(installer.show(name, scope, guide=guide, program=words) for name in names), end="")
        return ExitCode.OK
    for name in names:
        results = installer.install(name, scope, guide=guide, program=words)
        lines = [line for result in results if (line := result.describe())]
        if not ctx.obj.quiet:
            print(f"{CLIENTS[name].title}: {visible(', '.join(lines)) or 'already registered'}")
            if scope == PROJECT and lines and CLIENTS[name].next_step:
                print(f"  {CLIENTS[name].next_step}")
    if not ctx.obj.quiet:
        print_problems(installer, names)
    return ExitCode.OK


def print_problems(installer: Installer, names: Collection[str]) -> None:
    """Try the entries of clients as the clients will, and print the problems with their remedies."""
    for problem in installer.find_problems(names):
        say(f"warning: {visible(problem.message)}")
        if problem.remedy:
            say(f"hint: {visible(problem.remedy)}")


def find_location(ctx: click.Context) -> RepositoryLocation | None:
    """Return the repository of `-C`, None outside one: entries for all projects need none."""
    try:
        return locate(Path(ctx.obj.folder))
    except NotARepository:
        return None


def _choose(installer: Installer, clients: tuple[str, ...], all_clients: bool, scope: str) -> list[str]:
    """Return the clients to register with. Raises UsageError without any."""
    if all_clients and clients:
        raise UsageError("`--all` and names of clients exclude each other", hint="gitmem install --all")
    if not all_clients:
        if not clients:
            raise UsageError("no client given", hint=f"gitmem install CLIENT, one of {' '.join(CLIENTS)}")
        return list(clients)
    installed = installer.installed_clients()
    for name in installed:
        if scope not in CLIENTS[name].places:
            say(f"note: {CLIENTS[name].title} was left out: it has only files for other scopes")
    names = [name for name in installed if scope in CLIENTS[name].places]
    if not names:
        raise UsageError("no client of this scope is installed here", hint=f"gitmem install {next(iter(CLIENTS))}")
    return names


def _print_entries(installer: Installer) -> None:
    entries = installer.list_entries()
    if not entries:
        print("no client has an entry; to add one: gitmem install CLIENT")
    for entry in entries:
        started = shlex.join(entry.command) if entry.command else "another entry of this name"
        by_hand = "" if entry.is_recorded else "  (not added by this gitmem)"
        print(visible(shown_text(f"{entry.client:<15} {entry.scope:<8} {entry.file}  {started}{by_hand}")))
