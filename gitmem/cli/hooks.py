"""`gitmem hooks`."""

import click

from gitmem.actions.hooks import install, read_state, uninstall
from gitmem.cli.context import open_here, write_json
from gitmem.cli.style import print_line
from gitmem.display import visible
from gitmem.errors import ExitCode
from gitmem.install.hook_state import INSTALLED, OUTDATED, SKIPPED, HookReport


@click.command()
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, action: str, as_json: bool) -> ExitCode:
    """Install, show or remove the git hooks that keep the index up to date.

    The hooks start gitmem in the background after commits, merges, checkouts and rebases. They never fail, print or
    wait. Existing hooks still run, and `uninstall` restores every byte.

    \b
    Examples:
      gitmem hooks install
      gitmem hooks status
      gitmem hooks uninstall
    """
    workspace = open_here(ctx.obj)
    removed = action == "uninstall" and uninstall(workspace)
    report = install(workspace) if action == "install" else read_state(workspace)
    if as_json:
        write_json(_as_json(report))
    elif action == "uninstall":
        _say(ctx, "hooks: removed" if removed else "there are no hooks of gitmem here; nothing was changed")
    elif action == "install":
        others = [hook for hook in report.states if hook.state != INSTALLED]
        reasons = [f"  {hook.event} {hook.state}: {hook.detail}".removesuffix(": ") for hook in others]
        for line in [*describe(report), *reasons]:
            _say(ctx, line)
        if not ctx.obj.quiet:
            _print_advice(report)
    else:
        _print_states(report)
    return ExitCode.OK


def describe(report: HookReport) -> list[str]:
    """Return one line about the hooks after an installation."""
    installed = report.events(INSTALLED)
    location = " (in git's configuration)" if report.configured and installed else ""
    others = [hook.event for hook in report.states if hook.state != INSTALLED]
    rest = f"; not {' '.join(others)}: gitmem hooks status" if others else ""
    return [f"hooks: {' '.join(installed) or 'none'}{location}{rest}"]


def _print_states(report: HookReport) -> None:
    for hook in report.states:
        print_line(f"{hook.event:<14} {hook.state:<10} {visible(hook.detail)}".rstrip())
    _print_advice(report)
    if any(hook.state not in (INSTALLED, SKIPPED) for hook in report.states):
        print(f"{'renew' if report.events(OUTDATED) else 'install'} them: gitmem hooks install")


def _print_advice(report: HookReport) -> None:
    """Print what the user can do about events without a hook. Commands are whole lines, to be pasted."""
    advice = [hook.advice for hook in report.states if hook.advice]
    if advice:
        print("to start gitmem at the other events, paste or do this:")
    for line in advice:
        print(visible(line))


def _as_json(report: HookReport) -> dict[str, object]:
    hooks = [hook._asdict() for hook in report.states]
    return {"location": str(report.location), "configured": report.configured, "hooks": hooks}


def _say(ctx: click.Context, line: str) -> None:
    if not ctx.obj.quiet:
        print_line(visible(line))
