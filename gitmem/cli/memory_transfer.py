"""`gitmem memory import|export`: transfer all records as JSON Lines."""

import sys
from pathlib import Path

import click

from gitmem.cli.context import open_here, write_json
from gitmem.cli.text_input import json_option, read_lines, say_notes, secrets_option
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.fsio import write_atomic
from gitmem.records.transfer import export_records, import_records


@click.command("import")
@click.argument("file", metavar="FILE|-")
@click.option("--partial", is_flag=True, help="Skip invalid lines instead of refusing the file.")
@secrets_option
@json_option
@click.pass_context
def import_(ctx: click.Context, file: str, partial: bool, allow_secrets: bool, as_json: bool) -> ExitCode:
    """Import records of every kind from JSON Lines, as `gitmem memory export` writes them.

    The kind of a line is notes (the default), documents or conversations. A line needs content, and a turn of
    a conversation also needs conversation, turn and role. With `--partial` the exit code is 5 if a line was skipped.

    \b
    Examples:
      gitmem memory import memory.jsonl
      echo '{"content": "Deploys happen on Tuesdays.", "type": "fact"}' | gitmem memory import -
    """
    notes: list[str] = []
    made = import_records(open_here(ctx), read_lines(file), partial=partial, allow_secrets=allow_secrets, notes=notes)
    say_notes(ctx, notes)
    for line in made.bad:
        print(f"warning: line {line.number}: {visible(line.reason)}", file=sys.stderr)
    if as_json:
        bad = [line._asdict() for line in made.bad]
        write_json({"written": made.written, "unchanged": made.unchanged, "bad_lines": bad})
    else:
        print(f"imported {count(made.written, 'record')}, {made.unchanged:,} unchanged")
    return ExitCode.FAILED if made.bad else ExitCode.OK


@click.command("export")
@click.argument("file", metavar="[FILE|-]", default="-")
@click.pass_context
def export(ctx: click.Context, file: str) -> ExitCode:
    """Export every record as JSON Lines.

    \b
    Examples:
      gitmem memory export memory.jsonl
    """
    lines = (line + "\n" for line in export_records(open_here(ctx)))
    if file == "-":
        for line in lines:
            sys.stdout.buffer.write(line.encode())
        return ExitCode.OK
    write_atomic(Path(file), (line.encode() for line in lines))
    return ExitCode.OK
