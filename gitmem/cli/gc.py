"""`gitmem gc`."""

from dataclasses import asdict

import click

from gitmem.actions.gc import CollectReport, collect
from gitmem.cli.context import open_here, write_json
from gitmem.display import count, size
from gitmem.errors import ExitCode


@click.command()
@click.option("--now", is_flag=True, help="Also remove what was used in the last 14 days.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed; change nothing.")
@click.option("--no-wait", is_flag=True, help="Fail if another process is writing the index.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, now: bool, dry_run: bool, no_wait: bool, as_json: bool) -> ExitCode:
    """Remove chunks that no ref reaches any more.

    Everything stays that a ref, a reflog, or HEAD or the index of any working tree reaches, that is uncommitted there,
    or that was used in the last 14 days. Files of earlier generations are removed after ten minutes, so that no reader
    loses one. Vectors of a remote provider stay for 14 days after their last use in any case.

    \b
    Examples:
      gitmem gc --dry-run
      gitmem gc
    """
    report = collect(open_here(ctx.obj), now=now, dry_run=dry_run, wait=not no_wait)
    if as_json:
        write_json(asdict(report))
    else:
        print(_line(report))
    return ExitCode.OK


def _line(report: CollectReport) -> str:
    verb = "would remove" if report.dry_run else "removed"
    line = f"{verb} {count(report.blobs, 'blob')}, {count(report.chunks, 'chunk')}; {report.chunks_left:,} left"
    files = report.files + report.leftovers
    if files:
        line += f"; {count(files, 'file')}, {size(report.bytes)} {'to free' if report.dry_run else 'freed'}"
    if report.recent:
        line += f"; {count(report.recent, 'blob')} used recently (--now removes them)"
    if report.waiting_bytes:
        line += f"; {size(report.waiting_bytes)} more after ten minutes"
    return line
