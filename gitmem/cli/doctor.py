"""`gitmem doctor`."""

import os
from dataclasses import asdict
from pathlib import Path

import click

from gitmem.actions.doctor import FAIL, examine
from gitmem.cli.context import write_json
from gitmem.cli.shown_secrets import shown_text, shown_value
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> ExitCode:
    """Check that everything works, and suggest fixes.

    Each check is ok, warn or fail; the exit code is 5 if one fails. Nothing is changed, and no network is used.

    \b
    Examples:
      gitmem doctor
      gitmem doctor --json
    """
    checks = examine(Path(ctx.obj.folder), os.environ)
    sound = all(check.state != FAIL for check in checks)
    if as_json:
        write_json({"sound": sound, "checks": [shown_value(asdict(check)) for check in checks]})
    else:
        for check in checks:
            print_line(f"{check.state:<4}  {check.name:<10}  {visible(shown_text(check.message))}")
            if check.remedy:
                print(f"{'':16}  fix: {visible(shown_text(check.remedy))}")
    return ExitCode.OK if sound else ExitCode.FAILED
