"""`gitmem uninstall`."""

import os
from pathlib import Path

import click

from gitmem.actions.install import Installer
from gitmem.actions.uninstall import uninstall
from gitmem.cli.completer import complete
from gitmem.cli.confirmation import confirm
from gitmem.cli.context import find_file, open_here
from gitmem.cli.error_output import say
from gitmem.cli.install import ClientName, find_location
from gitmem.cli.style import print_line
from gitmem.display import count, visible
from gitmem.errors import ExitCode, UsageError
from gitmem.fsio import write_atomic
from gitmem.memory.record_paths import REFERENCE
from gitmem.records.removal import count_records, export_and_remove
from gitmem.workspace import Workspace


@click.command()
@click.argument("clients", nargs=-1, type=ClientName(), metavar="[CLIENT]...")
@click.option("--global", "everywhere", is_flag=True, help="Remove the entries in your own files, for all projects.")
@click.option(
    "--export",
    "file",
    metavar="FILE",
    shell_complete=complete("files"),
    default="",
    help="Export the memory to this file and remove it, too.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def command(ctx: click.Context, clients: tuple[str, ...], everywhere: bool, file: str, yes: bool) -> ExitCode:
    """Remove the index, the hooks and the entries for agents from this repository.

    The memory stays in git, under `refs/gitmem/memory`: notes, documents and conversations. With `--export` they are
    written to a file, as by `gitmem memory export`, and removed; on a terminal this is offered. Without a memory the
    repository is byte for byte as it was before, except for configuration keys that you set.

    With names of clients only their entries are removed. Entries in your own files for all projects are removed with
    `--global` only, and nothing else then.

    \b
    Examples:
      gitmem uninstall
      gitmem uninstall cursor
      gitmem uninstall --global
      gitmem uninstall --yes
      gitmem uninstall --export ~/project-memory.jsonl
    """
    if file and (clients or everywhere):
        raise click.UsageError("`--export` does not go with clients or `--global`", ctx)
    if clients or everywhere:
        return _remove_entries(ctx, clients, everywhere)
    workspace = open_here(ctx.obj)
    folder = visible(str(workspace.paths.root))
    if not yes:
        confirm(f"remove {folder}?", "gitmem uninstall --yes")
    records = count_records(workspace)
    if records and not file and not yes:
        file = _ask_for_file(records)
    target = _check_target(workspace, file) if file else None
    removed = uninstall(workspace, os.environ)
    items = [folder] * removed.index_gone + ["the hooks"] * removed.hooks_gone
    items += [f"the entry in {visible(file)}" for file in removed.files]
    nothing = "there is no index here" if target else "there is no index here; nothing was changed"
    print("removed " + " and ".join(items) if items else nothing)
    for problem in removed.problems:
        say(f"note: {problem}")
    for caller in removed.callers:
        say(f"note: `{caller}` still calls gitmem; remove the line that names `gitmem hook`")
    if not records:
        return ExitCode.OK
    if target is None:
        print_line(f"kept the memory: {count(records, 'record')} in {REFERENCE}")
        print("to export and remove it: gitmem uninstall --export memory.jsonl")
        return ExitCode.OK
    return _remove_memory(workspace, target)


def _ask_for_file(records: int) -> str:
    question = (
        f"the memory has {count(records, 'record')}; file to export them to before they are removed (empty: keep)"
    )
    answer: str = click.prompt(question, default="", show_default=False, err=True)
    return answer.strip()


def _check_target(workspace: Workspace, file: str) -> Path:
    """Return the path of the export. Raises UsageError if it exists or is in the folder to be removed."""
    target = find_file(os.path.expanduser(file))  # noqa: PTH111 (joined afterwards)
    if target.exists() or target.is_symlink():
        raise UsageError(f"`{file}` exists; the memory was not exported", hint="name a new file")
    if Path(os.path.realpath(target)).is_relative_to(os.path.realpath(workspace.paths.root)):
        raise UsageError(f"`{file}` is in the folder that is removed", hint="name a file elsewhere")
    if not target.parent.is_dir():
        raise UsageError(f"`{target.parent}` is not a folder", hint="name a file in an existing folder")
    return target


def _remove_memory(workspace: Workspace, target: Path) -> ExitCode:
    result = export_and_remove(workspace, lambda lines: write_atomic(target, (f"{line}\n".encode() for line in lines)))
    print(f"exported the memory to {visible(str(target))} and removed it")
    if not result.left:
        return ExitCode.OK
    # Another ref, a reflog or a worktree still reaches them; purge names the holders.
    say(f"note: {count(result.left, 'object')} of the memory still exist; see `gitmem memory purge`")
    return ExitCode.FAILED


def _remove_entries(ctx: click.Context, clients: tuple[str, ...], everywhere: bool) -> ExitCode:
    files, problems = Installer(find_location(ctx), os.environ).uninstall(clients, everywhere=everywhere)
    items = [f"the entry in {visible(file)}" for file in files]
    print("removed " + " and ".join(items) if items else "gitmem has added no such entry; nothing was changed")
    for problem in problems:
        say(f"note: {visible(problem)}")
    return ExitCode.FAILED if problems else ExitCode.OK
