"""`gitmem import`."""

# Modules of commands have the names of their commands; this one is a word of the language.
# ruff: noqa: N999

import os

import click

from gitmem.actions.older_data import IMPORTERS, ImportedData, OlderData, import_older_data
from gitmem.cli.completer import complete
from gitmem.cli.context import find_file, open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.shown_secrets import shown_value
from gitmem.cli.text_input import json_option, print_notices, read_lines
from gitmem.display import count, visible
from gitmem.errors import ExitCode


@click.command()
@click.option("--from", "system", type=click.Choice(list(IMPORTERS)), required=True, help="System that wrote the file.")
@click.argument("file", metavar="FILE", shell_complete=complete("files"))
@click.option("--dry-run", is_flag=True, help="Report what would be imported, and write nothing.")
@json_option
@click.pass_context
def command(ctx: click.Context, system: str, file: str, dry_run: bool, as_json: bool) -> ExitCode:
    """Import the data of an older system.

    \b
      s0  Personal Knowledge MCP: repositories.json, or its configuration
      s1  Local Knowledge RAG: its `.env` file
      s2  MCP Memory Server: memories, turns and artifacts as JSON Lines
      s3  Codebase Memory: its configuration as JSON
      s4  KnowledgeStore: documents as JSON Lines

    Records enter the memory of this repository, settings your own git configuration, and repositories the list of
    `gitmem repos list`. Each item that cannot be imported is named with the reason; the exit code is 5 then. What is
    there already is not imported again. Texts with keys, tokens or passwords are refused.

    \b
    Examples:
      gitmem import --from s2 memories.jsonl
      gitmem import --from s3 ~/.knowledge-base/config.json --dry-run
    """
    data = OlderData(open_here(ctx.obj), find_file(file).absolute(), read_lines(file), os.environ, dry_run)
    result = import_older_data(system, data)
    print_notices(ctx, result.notices)
    for one in result.skipped:
        say(f"warning: {visible(one.place)}: {visible(one.reason)}")
    if as_json:
        skipped = [one._asdict() for one in result.skipped]
        write_json(shown_value({**result._asdict(), "skipped": skipped, "dry_run": dry_run}))
    else:
        print(_describe(result, dry_run=dry_run))
    return ExitCode.FAILED if result.skipped else ExitCode.OK


def _describe(result: ImportedData, *, dry_run: bool) -> str:
    parts = [f"{count(result.records, 'record')}, {result.unchanged:,} unchanged"]
    if result.settings:
        parts.append(", ".join(f"{name}={visible(value)}" for name, value in result.settings.items()))
    if result.repositories:
        parts.append(f"{count(len(result.repositories), 'repository', 'repositories')}: "
                     f"{', '.join(map(visible, result.repositories))}")  # fmt: skip
    return f"{'would import' if dry_run else 'imported'} {'; '.join(parts)}"
