"""`gitmem memory log|diff|restore|purge`: former versions of all records."""

from typing import Final

import click

from gitmem.cli.confirmation import confirm
from gitmem.cli.context import open_here, write_json
from gitmem.cli.record_output import change_json, format_change, format_step, step_json
from gitmem.cli.text_input import json_option, say_notes, write_each
from gitmem.display import count, size, visible
from gitmem.errors import ExitCode
from gitmem.records.purge import Purged, purge_memory
from gitmem.records.record_json import record_json
from gitmem.records.revisions import LOG_DEFAULT, read_difference, read_log, restore_records


@click.command("log")
@click.argument("name", metavar="[ID]", default="")
@click.option("-n", "--limit", type=int, metavar="N", default=LOG_DEFAULT, show_default=True, help="Maximum number.")
@json_option
@click.pass_context
def log(ctx: click.Context, name: str, limit: int, as_json: bool) -> ExitCode:
    """List the changes of all records, the newest first.

    \b
    Examples:
      gitmem memory log
      gitmem memory log art_89abcdef
    """
    steps = read_log(open_here(ctx), name=name, limit=limit)
    write_each(steps, as_json, step_json, format_step)
    return ExitCode.OK


@click.command("diff")
@click.argument("old", metavar="[REV", default="")
@click.argument("new", metavar="[REV]]", default="")
@json_option
@click.pass_context
def diff(ctx: click.Context, old: str, new: str, as_json: bool) -> ExitCode:
    """Show the differences between two versions of the memory, by default the last change.

    \b
    Examples:
      gitmem memory diff
      gitmem memory diff 2026-01-31
      gitmem memory diff 1f2e3d4 ~3
    """
    changes = read_difference(open_here(ctx), old, new)
    write_each(changes, as_json, change_json, lambda change: "\n".join(format_change(change)))
    return ExitCode.OK


@click.command("restore")
@click.argument("name", metavar="ID")
@click.option("--at", metavar="REV", default="", help="Version to restore.  [default: the last different one]")
@json_option
@click.pass_context
def restore(ctx: click.Context, name: str, at: str, as_json: bool) -> ExitCode:
    """Restore a former version of a record of any kind.

    \b
    Examples:
      gitmem memory restore mem_0123456789ab
      gitmem memory restore art_89abcdef --at ~5
    """
    notes: list[str] = []
    records = restore_records(open_here(ctx), name, at=at, notes=notes)
    say_notes(ctx, notes)
    if as_json:
        write_json([record_json(record) for record in records])
    else:
        print(f"restored {visible(name)}")
    return ExitCode.OK


@click.command("purge")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@click.pass_context
def purge(ctx: click.Context, yes: bool, as_json: bool) -> ExitCode:
    """Remove deleted and replaced records of every kind for good, from git's object database too.

    Present records stay, and your own objects are not touched. If another ref, a reflog, an index or an alternate still
    reaches a removed record, its objects stay; they are listed, and the exit code is 5.

    \b
    Examples:
      gitmem memory delete mem_0123456789ab
      gitmem memory purge
    """
    if not yes:
        confirm("purge the former versions of the memory for good?", "gitmem memory purge --yes")
    made = purge_memory(open_here(ctx))
    if as_json:
        write_json(made._asdict())
    else:
        print(f"removed {count(made.objects, 'object')}, {size(made.bytes)}")
        if made.left:
            print(_format_left(made))
    return ExitCode.FAILED if made.left else ExitCode.OK


_MAX_KEEPERS: Final = 5


def _format_left(made: Purged) -> str:
    """Return a line about the objects that could not be removed, and the refs and files that reach them."""
    records = count(made.left_records, "deleted or replaced record")
    keepers = [visible(name) for name in made.kept_by]
    more = [f"{len(keepers) - _MAX_KEEPERS:,} more"] if len(keepers) > _MAX_KEEPERS else []
    names = ", ".join([*keepers[:_MAX_KEEPERS], *more])
    return f"not removed: {records}, {count(made.left, 'object')} in all; reachable from {names}"
