"""`gitmem share`: prepare the sharing of records through a git remote."""

import click

from gitmem.cli.command_group import CommandGroup
from gitmem.cli.confirmation import is_interactive
from gitmem.cli.context import open_here, write_json
from gitmem.cli.sharing import remote_argument, say_waiting
from gitmem.cli.text_input import json_option, print_notices
from gitmem.display import count, visible
from gitmem.errors import ExitCode, UsageError
from gitmem.git.remotes import find_remote
from gitmem.records.sharing_place import PLACES, Place, choose_place, find_unshared, keep_private

_SHARE, _PRIVATE = "share", "private"


@click.group(cls=CommandGroup)
def command() -> None:
    """Prepare the sharing of records through a git remote.

    `gitmem sync`, `gitmem push` and `gitmem pull` then share them.

    \b
    Examples:
      gitmem share init
    """


@command.command("init")
@remote_argument
@click.option(
    "--existing",
    type=click.Choice([_SHARE, _PRIVATE]),
    help="Share the notes and team documents that exist already, or make them private.",
)
@click.option(
    "--refs", "place", type=click.Choice(PLACES), help="Use a ref or a branch.  [default: the first one accepted]"
)
@json_option
@click.pass_context
def init(ctx: click.Context, remote: str, existing: str | None, place: str | None, as_json: bool) -> ExitCode:
    """Decide about existing records, and find the refs that a remote accepts. It pushes no record.

    Records that could be shared for the first time are counted. `private` gives them the visibility `me`.

    Each clone pushes a ref of its own, `refs/gitmem/writers/ID`. If the host refuses or hides such refs, it is a
    branch, `refs/heads/gitmem/ID`. The choice is stored as `remote.NAME.gitmemWriters`. Readers find both.

    \b
    Examples:
      gitmem share init
      gitmem share init --existing private --refs branch upstream
    """
    ctx.obj.warns = False
    workspace = open_here(ctx.obj)
    name = find_remote(workspace.location, remote)
    paths = find_unshared(workspace)
    private = paths if paths and (existing or _ask(len(paths), name)) == _PRIVATE else []
    print_notices(ctx, keep_private(workspace, private) if private else [])
    chosen = choose_place(workspace, name, place or "", on_wait=say_waiting)
    if as_json:
        write_json({**chosen._asdict(), "shared": len(paths) - len(private), "private": len(private)})
        return ExitCode.OK
    print(_format(chosen, len(paths), len(private)))
    return ExitCode.OK


def _ask(records: int, remote: str) -> str:
    """Return what to do with existing records. Raises UsageError without a terminal."""
    if not is_interactive():
        raise UsageError(
            f"{count(records, 'record')} could be shared, and nobody can be asked without a terminal",
            hint="gitmem share init --existing share, or --existing private",
        )
    question = f"share {count(records, 'existing record')} with everybody who reads `{visible(remote)}`?"
    return _SHARE if click.confirm(question, err=True) else _PRIVATE


def _format(chosen: Place, records: int, private: int) -> str:
    remote = visible(chosen.remote)
    lines = [f"{remote} refuses `{ref}`: {visible(reason)}" for ref, reason in chosen.refused.items()]
    lines.append(f"records are pushed to `{chosen.ref}`")
    kept = f"{count(private, 'existing record')} made private"
    lines.append(kept if private else f"{count(records, 'existing record')} to share")
    return "\n".join([*lines, f"share them: gitmem sync {remote}"])
