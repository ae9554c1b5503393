"""`gitmem repos`."""

import os
import shlex

import click

from gitmem.actions.repos import (
    RemovedRepository,
    count_memory,
    drop_run,
    enter_repository,
    get_repository,
    prune_registry,
    remove_known,
)
from gitmem.actions.repository_rows import (
    read_row,
    row_json,
    row_lines,
    run_json,
    run_line,
)
from gitmem.answering.answer_json import json_path
from gitmem.cli.command_group import CommandGroup
from gitmem.cli.completer import complete
from gitmem.cli.confirmation import confirm
from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.repository_list import print_repositories
from gitmem.cli.style import print_line
from gitmem.cli.text_input import print_notices
from gitmem.display import count, visible
from gitmem.errors import ExitCode, UsageError
from gitmem.freshness.index_runs import read_runs
from gitmem.memory.record_paths import REFERENCE
from gitmem.registry import KnownRepository, rename_repository
from gitmem.workspace import find_index, open_workspace

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_name_argument = click.argument("repository", metavar="NAME|PATH", shell_complete=complete("repositories"))


@click.group(cls=CommandGroup)
def command() -> None:
    """List, add, rename and remove the repositories that can be searched together.

    `gitmem init` and `gitmem index` add each. `gitmem query --repo NAME` and `--all` search them, and so do the tools
    of `gitmem mcp`, which also accept the name or the folder of one as `root`.

    \b
    Examples:
      gitmem repos list
      gitmem repos add ~/src/flask --name flask
      gitmem repos show flask
      gitmem repos remove flask
    """


@command.command("list")
@_json_option
def list_command(as_json: bool) -> ExitCode:
    """List the repositories with their present state, files, chunks and size, and the sums.

    A repository whose folder does not exist is `Missing`, one that cannot be opened `Unreadable`; the other states are
    those of `gitmem status`.

    \b
    Examples:
      gitmem repos list
      gitmem repos list --json
    """
    print_repositories(as_json=as_json)
    return ExitCode.OK


@command.command()
@_name_argument
@_json_option
def show(repository: str, as_json: bool) -> ExitCode:
    """Show the state of a repository: files and chunks by language and type, size, last run, errors.

    \b
    Examples:
      gitmem repos show flask
    """
    row = read_row(get_repository(os.environ, repository), os.environ)
    if as_json:
        write_json(row_json(row))
        return ExitCode.OK
    for line in row_lines(row):
        print_line(line)
    return ExitCode.OK


@command.command()
@click.argument("path", default="", metavar="[PATH]", shell_complete=complete("folders"))
@click.option("--name", default="", metavar="NAME", help="Name of the repository instead of its folder's.")
@_json_option
@click.pass_context
def add(ctx: click.Context, path: str, name: str, as_json: bool) -> ExitCode:
    """Add a repository.

    \b
    Examples:
      gitmem repos add
      gitmem repos add ~/src/flask --name flask
    """
    workspace = open_here(ctx.obj, path)
    added = enter_repository(workspace, os.environ, name)
    _print_known(ctx, added, as_json=as_json)
    if added is not None and find_index(workspace) is None:
        folder = shlex.quote(str(added.path))
        print_notices(ctx, [f"it has no index yet, so searches leave it out: gitmem -C {folder} init"])
    return ExitCode.OK


@command.command()
@_name_argument
@click.argument("name", metavar="NEW")
@_json_option
@click.pass_context
def rename(ctx: click.Context, repository: str, name: str, as_json: bool) -> ExitCode:
    """Give a repository another name.

    \b
    Examples:
      gitmem repos rename flask web
    """
    _print_known(ctx, rename_repository(os.environ, repository, name), as_json=as_json)
    return ExitCode.OK


def _print_known(ctx: click.Context, repository: KnownRepository | None, *, as_json: bool) -> None:
    """Print a repository of the registry. Raises UsageError without a registry."""
    if repository is None:
        raise UsageError("the registry of repositories is disabled", hint="unset GITMEM_NO_REGISTRY, and set HOME")
    if as_json:
        write_json(_known_json(repository))
    elif not ctx.obj.quiet:
        print_line(f"{visible(repository.name)}  {visible(str(repository.path))}")


def _known_json(repository: KnownRepository) -> dict[str, str]:
    return {"name": repository.name, "path": json_path(str(repository.path))}


@command.command()
@_name_argument
@click.option("--all-data", is_flag=True, help="Delete its notes, documents and conversations, too.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@_json_option
@click.pass_context
def remove(ctx: click.Context, repository: str, all_data: bool, yes: bool, as_json: bool) -> ExitCode:
    """Remove a repository from the list, and delete its index.

    The index can be built again with `gitmem index`. The memory stays in git, unless `--all-data` is given and
    confirmed. Nothing else in the repository changes; `gitmem uninstall` also removes hooks and entries for agents.

    \b
    Examples:
      gitmem repos remove flask
      gitmem repos remove flask --all-data
    """
    # The name is looked up first: nobody should confirm the removal of a repository that is not listed.
    known = get_repository(os.environ, repository)
    if all_data and not yes:
        records = count(count_memory(known, os.environ), "record")
        name = visible(known.name)
        command = f"gitmem repos remove {name} --all-data --yes"
        confirm(f"delete the index and the memory ({records}) of {name}?", command)
    removed = remove_known(known, os.environ, all_data=all_data)
    if as_json:
        write_json(
            {
                **_known_json(known),
                "index_removed": removed.had_index,
                "records_removed": removed.removed,
                "records_kept": removed.kept,
                "objects_left": removed.left,
            }
        )
    elif not ctx.obj.quiet:
        _print_removed(removed)
    # Another ref, a reflog or a worktree still reaches them.
    return ExitCode.FAILED if removed.left else ExitCode.OK


def _print_removed(removed: RemovedRepository) -> None:
    index = " and its index" if removed.had_index else "; it had no index"
    print_line(f"removed {visible(removed.known.name)}{index}")
    if removed.removed:
        print_line(f"deleted the memory: {count(removed.removed, 'record')}")
    if removed.kept:
        print_line(f"kept the memory: {count(removed.kept, 'record')} in {REFERENCE}")
    if removed.left:
        say(f"note: {count(removed.left, 'object')} of the memory still exist; see `gitmem memory purge`")


@command.command()
@_json_option
@click.pass_context
def prune(ctx: click.Context, as_json: bool) -> ExitCode:
    """Remove the repositories from the list whose folders do not exist. Nothing else is deleted.

    \b
    Examples:
      gitmem repos prune
    """
    pruned = prune_registry(os.environ)
    if as_json:
        write_json({"removed": [_known_json(known) for known in pruned]})
    elif not ctx.obj.quiet:
        for known in pruned:
            print_line(f"removed {visible(known.name)}  {visible(str(known.path))}")
    return ExitCode.OK


@command.command()
@_name_argument
@_json_option
def runs(repository: str, as_json: bool) -> ExitCode:
    """List the logged index runs of a repository, the newest first.

    \b
    Examples:
      gitmem repos runs flask
    """
    workspace = open_workspace(get_repository(os.environ, repository).path, os.environ)
    logged = read_runs(workspace.paths)[::-1]
    if as_json:
        write_json({"runs": [run_json(run) for run in logged]})
        return ExitCode.OK
    for run in logged:
        print_line(run_line(run))
    return ExitCode.OK


@command.command("drop-run")
@_name_argument
@click.argument("at", metavar="TIME")
@_json_option
@click.pass_context
def drop_run_command(ctx: click.Context, repository: str, at: str, as_json: bool) -> ExitCode:
    """Remove the chunks that a run embedded from the index. The next run or query embeds them again.

    TIME is that of `gitmem repos runs`.

    \b
    Examples:
      gitmem repos drop-run flask 2026-01-31T12:00:00.000000Z
    """
    dropped = drop_run(open_workspace(get_repository(os.environ, repository).path, os.environ), at)
    if as_json:
        write_json({"at": at, "blobs": dropped.blobs, "chunks": dropped.chunks})
    elif not ctx.obj.quiet:
        print_line(f"dropped {count(dropped.chunks, 'chunk')} of {count(dropped.blobs, 'blob')}")
    return ExitCode.OK
