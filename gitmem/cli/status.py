"""`gitmem status`."""

import click

from gitmem.answering.index_status import NO_INDEX, read_status
from gitmem.answering.status_report import status_json, status_lines
from gitmem.cli.context import open_here, write_json
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> ExitCode:
    """Show the state and the content of the index.

    The state is `Up to Date`, `Needs Update` or `No Index`. Nothing is written.

    \b
    Examples:
      gitmem status
      gitmem status --json
    """
    status = read_status(open_here(ctx))
    if as_json:
        write_json(status_json(status))
        return ExitCode.OK
    print(f"{status.state}: {visible(status.head)}")
    if status.state == NO_INDEX:
        if status.memory_problem:
            print(f"  memory     {visible(status.memory_problem)}")
        print("  run `gitmem init`")
        return ExitCode.OK
    for line in status_lines(status):
        print_line(f"  {line}")
    return ExitCode.OK
