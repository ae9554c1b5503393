"""`gitmem memory import|export`: records as JSON Lines."""

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
@click.option("--partial", is_flag=True, help="Leave bad lines out instead of refusing all.")
@secrets_option
@json_option
@click.pass_context
def import_(ctx: click.Context, file: str, partial: bool, allow_secrets: bool, as_json: bool) -> ExitCode:
    """Take in records as JSON Lines, as `gitmem memory export` writes them.

    The kind of a line is notes, documents or conversations; without one it is a note. A line needs its content, and a
    turn of a conversation needs conversation, turn and role too. With bad lines and `--partial` the exit code is 5.

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
        print(f"imported {count(made.written, 'record')}, {made.unchanged:,} were there already")
    return ExitCode.FAILED if made.bad else ExitCode.OK


@click.command("export")
@click.argument("file", metavar="[FILE|-]", default="-")
@click.pass_context
def export(ctx: click.Context, file: str) -> ExitCode:
    """Write every record as JSON Lines.

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
