"""`gitmem memory log|diff|restore|purge`: former revisions of all records."""

from typing import Final

import click

from gitmem.cli.completer import complete
from gitmem.cli.confirmation import confirm
from gitmem.cli.context import open_here, page_output, write_json
from gitmem.cli.record_output import format_diff, format_log_entry
from gitmem.cli.sharing import say_waiting
from gitmem.cli.shown_secrets import shown_text, shown_value
from gitmem.cli.text_input import json_option, print_each, print_notices, show_secrets_option
from gitmem.display import count, size, visible
from gitmem.errors import ExitCode
from gitmem.records.purge import PurgeResult, purge_memory
from gitmem.records.record_json import diff_json, log_entry_json, record_json
from gitmem.records.revisions import LOG_DEFAULT, read_diff, read_log, restore_records


@click.command("log")
@click.argument("name", metavar="[ID]", shell_complete=complete("records"), default="")
@click.option(
    "-n", "--limit", type=int, metavar="N", default=LOG_DEFAULT, show_default=True, help="Maximum number of changes."
)
@json_option
@click.pass_context
def log(ctx: click.Context, name: str, limit: int, as_json: bool) -> ExitCode:
    """List the changes of all records, or of one, newest first.

    \b
    Examples:
      gitmem memory log
      gitmem memory log art_89abcdef
    """
    entries = read_log(open_here(ctx.obj), name=name, limit=limit)
    page_output(ctx.obj)
    print_each(entries, as_json, log_entry_json, format_log_entry)
    return ExitCode.OK


@click.command("diff")
@click.argument("old", metavar="[REV", shell_complete=complete("memory revisions"), default="")
@click.argument("new", metavar="[REV]]", shell_complete=complete("memory revisions"), default="")
@show_secrets_option
@json_option
@click.pass_context
def diff(ctx: click.Context, old: str, new: str, as_json: bool) -> ExitCode:
    """Show the differences of all records between two revisions of the memory, by default the last change.

    A revision is a commit of the log, `~2` for two changes ago, or a date.

    \b
    Examples:
      gitmem memory diff
      gitmem memory diff 2026-01-31
      gitmem memory diff 1f2e3d4 ~3
    """
    diffs = read_diff(open_here(ctx.obj), old, new)
    page_output(ctx.obj)
    print_each(diffs, as_json, diff_json, lambda each: "\n".join(format_diff(each)))
    return ExitCode.OK


@click.command("restore")
@click.argument("name", metavar="ID", shell_complete=complete("records"))
@click.option(
    "--at",
    metavar="REV",
    shell_complete=complete("memory revisions"),
    default="",
    help="Revision to restore.  [default: the latest that differs from now]",
)
@json_option
@click.pass_context
def restore(ctx: click.Context, name: str, at: str, as_json: bool) -> ExitCode:
    """Restore a record of any kind from a former revision.

    \b
    Examples:
      gitmem memory restore mem_0123456789ab
      gitmem memory restore art_89abcdef --at ~5
    """
    restored = restore_records(open_here(ctx.obj), name, at=at)
    print_notices(ctx, restored.notices)
    if as_json:
        write_json(shown_value([record_json(record) for record in restored.records]))
    else:
        print(f"restored {visible(name)}")
    return ExitCode.OK


@click.command("purge")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@click.pass_context
def purge(ctx: click.Context, yes: bool, as_json: bool) -> ExitCode:
    """Remove all former revisions of the memory: deleted and replaced records are removed from the object database.

    Current records stay, and so do all other objects. If another ref, a reflog, an index or an alternate still holds
    deleted records, purge reports it, and the exit code is 5. Purge refuses to run if the memory lost records; recover
    them first.

    \b
    Examples:
      gitmem memory delete mem_0123456789ab
      gitmem memory purge
    """
    if not yes:
        confirm("purge the former revisions of the memory for good?", "gitmem memory purge --yes")
    ctx.obj.warns = False  # purge refuses then, with the same words
    result = purge_memory(open_here(ctx.obj), on_wait=say_waiting)
    if as_json:
        write_json(shown_value(result._asdict()))
    else:
        print(f"removed {count(result.objects, 'object')}, {size(result.bytes)}")
        if result.left:
            print(shown_text(_format_left(result)))
        if result.shared:
            print("purge the remote and other clones too: gitmem sync")
    return ExitCode.FAILED if result.left else ExitCode.OK


_MAX_HOLDERS: Final = 5


def _format_left(result: PurgeResult) -> str:
    """Format the number of objects that could not be removed, and the refs and other places that reach them."""
    records = count(result.left_records, "deleted or replaced record")
    holders = [visible(name) for name in result.kept_by]
    more = [f"{len(holders) - _MAX_HOLDERS:,} more"] if len(holders) > _MAX_HOLDERS else []
    reachable_from = ", ".join([*holders[:_MAX_HOLDERS], *more])
    return f"not removed: {records}, {count(result.left, 'object')} in all; reachable from {reachable_from}"
