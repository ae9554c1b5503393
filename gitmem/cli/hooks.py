"""`gitmem hooks`."""

import click

from gitmem.actions.hooks import install, read_state, uninstall
from gitmem.cli.context import is_quiet, open_here, write_json
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
    workspace = open_here(ctx)
    removed = action == "uninstall" and uninstall(workspace)
    report = install(workspace) if action == "install" else read_state(workspace)
    if as_json:
        write_json(_as_json(report))
    elif action == "uninstall":
        _say(ctx, "hooks: removed" if removed else "there are no hooks of gitmem here; nothing was changed")
    elif action == "install":
        for line in [*describe(report), *_advise(report)]:
            _say(ctx, line)
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


def _advise(report: HookReport) -> list[str]:
    """Return a line for each event without a hook of gitmem, with what the user can do about it."""
    others = [hook for hook in report.states if hook.state != INSTALLED]
    return [f"  {hook.event} {hook.state}: {hook.detail}; {hook.advice}".removesuffix("; ") for hook in others]


def _print_states(report: HookReport) -> None:
    for hook in report.states:
        print(f"{hook.event:<14} {hook.state:<10} {visible(hook.detail)}".rstrip())
        if hook.advice:
            print(f"{'':25} {visible(hook.advice)}")
    if any(hook.state not in (INSTALLED, SKIPPED) for hook in report.states):
        print(f"{'renew' if report.events(OUTDATED) else 'install'} them: gitmem hooks install")


def _as_json(report: HookReport) -> dict[str, object]:
    hooks = [hook._asdict() for hook in report.states]
    return {"location": str(report.location), "configured": report.configured, "hooks": hooks}


def _say(ctx: click.Context, line: str) -> None:
    if not is_quiet(ctx):
        print(visible(line))
