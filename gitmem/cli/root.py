"""The command group. It imports the module of a command only when the command is invoked."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from gitmem import __version__
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.completer import complete
from gitmem.cli.console import absolute
from gitmem.cli.invocation import Invocation, begin, invocation_scope
from gitmem.cli.leading_options import COMPLETION
from gitmem.errors import ExitCode
from gitmem.events import measured
from gitmem.settings import LOG_LEVELS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Final = {
    "init": "Index this repository.",
    "index": "Bring the index up to date.",
    "query": "Search the code in words or by symbol.",
    "related": "Find code similar to the code at a location.",
    "usages": "Show who defines, calls, extends, imports or mentions a name.",
    "map": "Show an outline of the most important definitions.",
    "impact": "List the callers that changes touch.",
    "when": "Show when a function appeared, and every commit that changed it.",
    "changes": "List the functions and classes that differ between two revisions.",
    "bisect-hint": "Rank the commits of a range by how likely they introduced a fault.",
    "eval": "Evaluate the search on this repository's own history, and tune it.",
    "memory": "Store notes in the repository, and manage all records of the memory.",
    "doc": "Store documents from other sources in the repository: pages, mails, chats, transcripts.",
    "conversation": "Store conversations, turn by turn.",
    "import": "Import the data of an older system.",
    "report": "Create reports from templates, and list the last searches.",
    "get": "Read files, lines, symbols, chunks and records by the ids that searches print.",
    "share": "Prepare the sharing of records through a git remote.",
    "push": "Push this clone's shared records to a git remote.",
    "pull": "Take over the records that others pushed to a git remote.",
    "sync": "Pull the records of others from a git remote, then push this clone's.",
    "status": "Show the state and the content of the index.",
    "metrics": "Show how often operations ran in this repository, and how long they took.",
    "health": "Report whether this repository can be searched now.",
    "doctor": "Check that everything works, and suggest fixes.",
    "verify": "Read every checksum and compare the index with git.",
    "gc": "Remove chunks that no ref reaches any more.",
    "watch": "Keep the index up to date with the working tree, until ctrl-C.",
    "hooks": "Install, show or remove the git hooks that keep the index up to date.",
    "install": "Register the MCP server with agents' clients.",
    "config": "Show and check the configuration; `git config gitmem.NAME VALUE` changes it.",
    "repos": "List, add, rename and remove the repositories that can be searched together.",
    "org": "Publish repositories to PostgreSQL, and search them together under the rights of each person.",
    "mcp": "Serve agents: search this repository for Claude Code and others.",
    "serve": "Serve the web page and the HTTP API for all repositories of this user.",
    "open": "Open the web page of this user's repositories.",
    "cancel": "Stop an index run in another process.",
    "uninstall": "Remove the index, the hooks and the entries for agents from this repository.",
    "completion": "Print the completion script of a shell.",
    "help": "Show the help of a command, or its manual page.",
}
"""Commands with the first line of their help. Listing them here avoids the import of every command for `--help`."""

ALIASES: Final = {"search": "query"}


class LazyGroup(CommandGroup):
    """Group that imports the module of a command when the command is invoked."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return [*COMMANDS, *ALIASES]

    def find_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if not self.has_command(ctx, name):
            return None
        command: click.Command = import_module(f"gitmem.cli.{ALIASES.get(name, name).replace('-', '_')}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        commands: list[CompletionItem] = import_module("gitmem.cli.completion_values").complete_commands(incomplete)
        return commands

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "-C",
    "folder",
    metavar="DIR",
    default=".",
    shell_complete=complete("folders"),
    help="Run in this folder instead of the current one.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no notes.")
@click.option("--no-pager", is_flag=True, help="Do not pipe long output into a pager.")
@click.option("--no-server", is_flag=True, help="Do not ask a running gitmem for the answer.")
@click.option(
    "--log-level",
    type=click.Choice(LOG_LEVELS),
    metavar="LEVEL",
    help="Log events of this level and above: debug, info, error or off.",
)
@click.version_option(__version__, "-V", "--version", message="gitmem %(version)s", help="Print the version.")
@click.pass_context
def root(
    ctx: click.Context, /, folder: str, quiet: bool, no_pager: bool, no_server: bool, log_level: str | None
) -> None:
    """Search git repositories by meaning and by symbol, at any revision, offline."""
    if log_level is not None:
        # Like any setting; background processes that this command starts log, too.
        os.environ["GITMEM_LOG"] = log_level
    ctx.obj = begin(Invocation(absolute(folder), quiet=quiet, pager=not no_pager, server=not no_server))
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def invoke(args: list[str]) -> int:
    """Run a command line and return the command's exit code. Errors propagate."""
    if COMPLETION in os.environ:
        return int(import_module("gitmem.cli.completion_reply").reply(os.environ))
    try:
        with invocation_scope(), root.make_context("gitmem", args) as context, measured("cli.") as operation:
            try:
                code = int(root.invoke(context) or ExitCode.OK)
            finally:
                operation.name = f"cli.{context.invoked_subcommand or 'help'}"
                operation.paths = context.obj.paths if context.obj else None
            operation.outcome = "ok" if code == ExitCode.OK else f"exit_{code}"
            return code
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.Abort as aborted:  # ctrl-C at a confirmation
        raise KeyboardInterrupt from aborted
