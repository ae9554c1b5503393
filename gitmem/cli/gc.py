"""`gitmem gc`."""

from dataclasses import asdict

import click

from gitmem.actions.gc import CollectReport, collect
from gitmem.cli.context import open_here, write_json
from gitmem.display import count, size
from gitmem.errors import ExitCode


@click.command()
@click.option("--now", is_flag=True, help="Also drop what was in use within the last 14 days.")
@click.option("--dry-run", is_flag=True, help="Say what would go, change nothing.")
@click.option("--no-wait", is_flag=True, help="Give up where another process is writing the index.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, now: bool, dry_run: bool, no_wait: bool, as_json: bool) -> ExitCode:
    """Drop what no ref reaches any more.

    Kept is whatever a branch, a tag, another ref, a reflog, or HEAD or the index of any working tree reaches, what is
    uncommitted there, and what was in use within the last 14 days. Files of earlier generations go ten minutes after
    they were last needed, so that no reader loses one.

    \b
    Examples:
      gitmem gc --dry-run
      gitmem gc
    """
    made = collect(open_here(ctx), now=now, dry_run=dry_run, wait=not no_wait)
    if as_json:
        write_json(asdict(made))
    else:
        print(_line(made))
    return ExitCode.OK


def _line(made: CollectReport) -> str:
    verb = "would drop" if made.dry_run else "dropped"
    line = f"{verb} {count(made.blobs, 'blob')}, {count(made.chunks, 'chunk')}; {made.chunks_left:,} left"
    files = made.files + made.leftovers
    if files:
        line += f"; {count(files, 'file')}, {size(made.bytes)} {'to free' if made.dry_run else 'freed'}"
    if made.recent:
        line += f"; {count(made.recent, 'blob')} in use lately (--now)"
    if made.waiting_bytes:
        line += f"; {size(made.waiting_bytes)} more after ten minutes"
    return line
