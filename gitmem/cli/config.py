"""`gitmem config`."""

import os
from pathlib import Path

import click

from gitmem.actions.configuration import Configuration, find_config_problems, read_configuration
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.context import write_json
from gitmem.cli.error_output import say
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.settings import SETTINGS, find_obsolete


@click.group(cls=CommandGroup)
def command() -> None:
    """Show and check the configuration; `git config gitmem.NAME VALUE` changes it.

    Options of a command come first, then `GITMEM_NAME` in the environment, git's configuration, variables of other
    search servers that mean the same, and the default. `.gitmem.toml`, which a team commits, and the user's own rules
    both narrow what is indexed.

    \b
    Examples:
      gitmem config show --origin
      gitmem config check
    """


@command.command()
@click.option("--origin", "with_origin", is_flag=True, help="Show which file or variable sets each value.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def show(ctx: click.Context, with_origin: bool, as_json: bool) -> ExitCode:
    """Show the value of each setting, in this repository or of this user.

    \b
    Examples:
      gitmem config show --origin
      gitmem config show --json
    """
    configuration = read_configuration(Path(ctx.obj.folder), os.environ)
    if as_json:
        write_json(_as_json(configuration))
        return ExitCode.OK
    width = max(len(setting.name) for setting in configuration.settings)
    values = max(len(visible(setting.value)) for setting in configuration.settings)
    for setting in configuration.settings:
        origin = f"  {visible(' '.join(filter(None, (setting.origin, setting.place))))}" if with_origin else ""
        print(f"{setting.name:<{width}}  {visible(setting.value):<{values if with_origin else 0}}{origin}".rstrip())
    note_obsolete(configuration.obsolete)
    return ExitCode.OK


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> ExitCode:
    """Check git's configuration, the environment and `.gitmem.toml`, and report every problem.

    Every other command stops at the first, before it writes anything. The exit code is 2 if there is one.

    \b
    Examples:
      gitmem config check
    """
    problems = find_config_problems(Path(ctx.obj.folder), os.environ)
    obsolete = find_obsolete(os.environ)
    if as_json:
        rows = [{"message": problem.message, "hint": problem.hint} for problem in problems]
        write_json({"valid": not problems, "problems": rows, "obsolete": obsolete})
    else:
        for problem in problems:
            say(f"error: {problem.message}")
            say(f"hint: {problem.hint}")
        note_obsolete(obsolete)
        if not problems and not ctx.obj.quiet:
            print(f"valid: {count(len(SETTINGS), 'setting')}")
    return ExitCode.USAGE if problems else ExitCode.OK


def note_obsolete(names: list[str]) -> None:
    """Print one notice about variables of other search servers that mean nothing to gitmem."""
    if names:
        say(f"note: no meaning for gitmem, which needs no database: {', '.join(names)}")


def _as_json(configuration: Configuration) -> dict[str, object]:
    return {
        "repository": str(configuration.repository) if configuration.repository else None,
        "settings": [setting._asdict() for setting in configuration.settings],
        "obsolete": configuration.obsolete,
    }
