"""`gitmem memory import|export`: all records as JSON Lines."""

import sys

import click

from gitmem.cli.completer import complete
from gitmem.cli.context import find_file, open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.shown_secrets import shown_value
from gitmem.cli.text_input import json_option, print_notices, read_lines, secrets_option
from gitmem.display import count
from gitmem.errors import ExitCode
from gitmem.fsio import write_atomic
from gitmem.records.transfer import export_records, import_records


@click.command("import")
@click.argument("file", metavar="FILE|-", shell_complete=complete("files"))
@click.option("--partial", is_flag=True, help="Skip bad lines instead of refusing all.")
@secrets_option
@json_option
@click.pass_context
def import_(ctx: click.Context, file: str, partial: bool, allow_secrets: bool, as_json: bool) -> ExitCode:
    """Import records of every kind from JSON Lines, as `gitmem memory export` writes them.

    The kind of a line is notes, documents or conversations, by default notes. Each line needs `content`; a turn of a
    conversation also needs `conversation`, `turn` and `role`. With `--partial` and bad lines the exit code is 5.

    \b
    Examples:
      gitmem memory import memory.jsonl
      echo '{"content": "Deploys happen on Tuesdays.", "type": "fact"}' | gitmem memory import -
    """
    result = import_records(open_here(ctx.obj), read_lines(file), partial=partial, allow_secrets=allow_secrets)
    print_notices(ctx, result.notices)
    for line in result.bad:
        say(f"warning: line {line.number}: {line.reason}")
    if as_json:
        bad = shown_value([line._asdict() for line in result.bad])
        write_json({"written": result.written, "unchanged": result.unchanged, "bad_lines": bad})
    else:
        print(f"imported {count(result.written, 'record')}, {result.unchanged:,} unchanged")
    return ExitCode.FAILED if result.bad else ExitCode.OK


@click.command("export")
@click.argument("file", metavar="[FILE|-]", shell_complete=complete("files"), default="-")
@click.pass_context
def export(ctx: click.Context, file: str) -> ExitCode:
    """Export records of every kind as JSON Lines, complete: secrets that were stored are in the file.

    \b
    Examples:
      gitmem memory export memory.jsonl
    """
    lines = (line + "\n" for line in export_records(open_here(ctx.obj)))
    if file == "-":
        for line in lines:
            sys.stdout.buffer.write(line.encode())
        return ExitCode.OK
    # A failed export must not replace an earlier one by half of it.
    write_atomic(find_file(file), (line.encode() for line in lines))
    return ExitCode.OK
