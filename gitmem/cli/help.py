"""`gitmem help`."""

import os
import subprocess
import tempfile
from pathlib import Path

import click

from gitmem.cli.completer import complete
from gitmem.cli.context import page_output
from gitmem.cli.man_pages import page_name, render_page
from gitmem.cli.root import ALIASES
from gitmem.errors import ExitCode, UsageError


@click.command()
@click.argument("names", metavar="[COMMAND [SUBCOMMAND]]", shell_complete=complete("commands"), nargs=-1)
@click.option("-m", "--man", is_flag=True, help="Show the manual page instead.")
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...], man: bool) -> ExitCode:
    """Show the help of a command, or its manual page.

    \b
    Examples:
      gitmem help
      gitmem help query
      gitmem help memory delete
      gitmem help --man memory
    """
    context = _find_command(ctx, names)
    if man:
        return _show_page(ALIASES.get(names[0], names[0]) if names else "")
    page_output(ctx.obj)
    click.echo(context.get_help())
    return ExitCode.OK


def _find_command(ctx: click.Context, names: tuple[str, ...]) -> click.Context:
    """Return a context of the named command. Raises click's UsageError, with a suggestion, for an unknown name."""
    context = ctx.find_root()
    for name in names:
        group = context.command
        if not isinstance(group, click.Group):
            raise UsageError(f"`{context.command_path}` has no subcommands", hint=f"{context.command_path} --help")
        _, found, _ = group.resolve_command(context, [name])
        assert found is not None, "an unknown command raises an error"
        shown = ALIASES.get(name, name) if context.parent is None else name
        context = click.Context(found, info_name=shown, parent=context)
    return context


def _show_page(name: str) -> ExitCode:
    """Show a manual page with `man`. It is generated, so that it exists and is current in every installation."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{page_name(name)}.1"
        file.write_text(render_page(name), encoding="utf-8")
        try:
            # A name with a slash is a file for every `man`.
            code = subprocess.run(["man", str(file)], check=False, env=os.environ).returncode
        except OSError as error:
            hint = f"install it, or run: gitmem help {name}".rstrip()
            raise UsageError(f"`man` cannot be run: {error.strerror}", hint=hint) from error
    return ExitCode.OK if code == 0 else ExitCode.FAILED
