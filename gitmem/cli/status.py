"""`gitmem status`."""

import os

import click

from gitmem.answering.index_status import NO_INDEX, read_status
from gitmem.answering.status_report import run_lines, status_json, status_lines
from gitmem.cli.context import open_here, write_json
from gitmem.cli.repository_list import print_repositories
from gitmem.cli.run_watch import watch_run
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.resident.running_server import ANSWERS, find_server


@click.command()
@click.option("--all", "all_", is_flag=True, help="Show all registered repositories, as `gitmem repos list` does.")
@click.option("--watch", is_flag=True, help="Show the progress of a run in another process until its end first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, all_: bool, watch: bool, as_json: bool) -> ExitCode:
    """Show the state and the content of the index.

    The state is `Up to Date`, `Needs Update`, `Updating` or `Cancelling` while another process writes, or `No Index`,
    with exit code 3. Nothing is written. The progress of a run in another process is shown, too.

    \b
    Examples:
      gitmem status
      gitmem status --watch
      gitmem status --all
      gitmem status --json
    """
    if all_:
        if watch:
            raise UsageError("`--all` and `--watch` exclude each other")
        print_repositories(as_json=as_json)
        return ExitCode.OK
    workspace = open_here(ctx.obj)
    if watch:
        watch_run(workspace, quiet=ctx.obj.quiet or as_json)
        workspace = open_here(ctx.obj)  # HEAD may have moved meanwhile
    status = read_status(workspace)
    code = ExitCode.NO_INDEX if status.state == NO_INDEX else ExitCode.OK
    if as_json:
        write_json(status_json(status))
        return code
    print(f"{status.state}: {visible(status.head)}")
    if status.state == NO_INDEX:
        if status.memory_problem:
            print(f"  memory     {visible(status.memory_problem)}")
        print("  run `gitmem init`")
        return code
    for line in status_lines(status) if status.generation else run_lines(status):
        print_line(f"  {line}")
    server = find_server(workspace.location, os.environ)
    if server is not None and server.state == ANSWERS:
        print_line(f"  server     `{visible(server.command)}` answers queries")
    return code
