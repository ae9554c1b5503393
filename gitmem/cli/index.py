"""`gitmem index`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from gitmem.actions.patterns_of_run import apply_patterns, check_patterns, keep_patterns
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here
from gitmem.cli.index_run import IndexOptions, parse_since, run_index
from gitmem.cli.repository_entry import enter_if_new
from gitmem.cli.revision_option import revision_options
from gitmem.cli.run_preview import print_preview
from gitmem.errors import ExitCode, OutsideRepository, UsageError
from gitmem.git.locate import describe_head
from gitmem.git.remote_url import is_remote_url
from gitmem.git.revisions import resolve
from gitmem.registry import check_name
from gitmem.workspace import Workspace


@click.command()
@click.argument("path", default="", metavar="[PATH|URL]", shell_complete=complete("files"))
@revision_options("Index this commit, tag, branch or tree instead of HEAD.")
@click.option("--uncommitted", is_flag=True, help="Index changed and untracked files as well.")
@click.option("--full", is_flag=True, help="Embed everything again; the old index answers until the end.")
@click.option("--reset", is_flag=True, help="Delete the index first, with its log and tuning. Records stay.")
@click.option(
    "--include",
    metavar="GLOB",
    multiple=True,
    help="Index only such files (gitignore syntax), from now on: adds to gitmem.include.",
)
@click.option(
    "--exclude", metavar="GLOB", multiple=True, help="Do not index such files, from now on: adds to gitmem.exclude."
)
@click.option(
    "--recurse-submodules/--no-recurse-submodules",
    "recurse",
    default=None,
    help="Index submodules and nested repositories too, each as its own.",
)
@click.option("--name", default="", metavar="NAME", help="Name of the repository in `gitmem repos list`.")
@click.option("--shallow/--no-shallow", default=None, help="Fetch a URL without its history (the default) or with it.")
@click.option("--fresh", is_flag=True, help="Fetch all of a URL again, if its clone is damaged.")
@click.option("--dry-run", is_flag=True, help="Report what would be indexed, and write nothing.")
@click.option("--no-wait", is_flag=True, help="Fail if another process is writing the index.")
@click.option("--graph", is_flag=True, help="Build or extend the neighbour graph of a large index.")
@click.option("--history", is_flag=True, help="Index the past as well: commit messages, and the code of all commits.")
@click.option(
    "--since",
    metavar="DATE",
    default="",
    help="With --history: code of earlier commits is left out, their messages not; kept for later runs.",
)
@click.option("--background", is_flag=True, help="With --history: index the past in the background.")
@click.option("-v", "--verbose", is_flag=True, help="List skipped files, files in Latin-1 and unknown extensions.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(
    ctx: click.Context, /, *, path: str, rev: str, reset: bool, include: tuple[str, ...], exclude: tuple[str, ...],
    name: str, recurse: bool | None, shallow: bool | None, fresh: bool, dry_run: bool, **of_run: Any,
) -> ExitCode:  # fmt: skip
    """Bring the index up to date.

    PATH is in the repository to index, by default the current one. A folder or a file outside of any repository is
    indexed as well, with all files that git would not ignore. Its index is in the user's data folder. All of them
    enter the list of `gitmem repos`, so that `gitmem query --all` finds them.

    HEAD and the staged files are indexed; only blobs that are not indexed yet are read and embedded. A query finds and
    indexes all other changed files. `--include` and `--exclude` are kept in the repository's git configuration, so that
    queries and hooks follow them. With `--history` the messages of the commits up to HEAD are indexed too, for
    `gitmem query --kind commits`, and the definitions in all versions of the files, for `gitmem query --history`. From
    then on the hooks keep them up to date. The size and the cost are printed before the code is read; a stopped run
    goes on where it was.

    A URL (https or ssh) is cloned into the user's data folder and indexed at its newest commit, or at the branch, tag
    or commit of `--rev`. The same command fetches again. Its host must be in gitmem.allowedHosts. `GITMEM_GIT_TOKEN` or
    a credential helper of git opens private repositories. `gitmem query --repo NAME` searches the clone.

    \b
    Examples:
      gitmem index                  # HEAD and staged files
      gitmem index --uncommitted    # all changed and untracked files as well
      gitmem index --rev v2.1       # another revision as well
      gitmem index --full           # embed everything again
      gitmem index --history        # commit messages and former code as well
      gitmem index --history --since 2020-01-01 --background
      gitmem index --dry-run -v     # which files would be indexed, and which not
      gitmem index --exclude "*.generated.ts"
      gitmem index ~/notes          # a folder outside of any repository
      gitmem index https://github.com/pallets/flask --rev 3.0.x
    """
    _check_options(ctx.params)
    workspace, rev = _find_repository(ctx, path, rev, name, needs_url=shallow is not None or fresh, dry_run=dry_run)
    if include or exclude:
        check_patterns(include, exclude, os.environ)
        workspace = apply_patterns(workspace, include, exclude)
    options = _run_options(rev, **of_run, quiet=ctx.obj.quiet)
    if _recurses(ctx.params, workspace, recurse=recurse):
        from gitmem.cli.nested_run import index_all  # most runs index one repository

        return index_all(workspace, options)
    tree, label = _find_tree(workspace, rev)
    if dry_run:
        return print_preview(workspace, tree, label, options)
    keep_patterns(workspace, include, exclude, os.environ)
    if reset:
        _remove_index(workspace)
    enter_if_new(workspace, os.environ)
    return run_index(workspace, tree, label, options)


def _run_options(rev: str, *, no_wait: bool, history: bool, since: str, **others: bool) -> IndexOptions:
    """Return the options of the run. Raises UsageError for an invalid time."""
    earliest = parse_since(since) if history else None
    return IndexOptions(rev, wait=not no_wait, history=history, since=earliest, **others)


_DATA_VARIABLE: Final = "XDG_DATA_HOME"

_EXCLUSIVE: Final = (
    ("rev", "uncommitted", ""), ("rev", "history", "a query with `--rev` indexes its commits"),
    ("dry_run", "reset", ""), ("dry_run", "graph", ""), ("dry_run", "history", ""), ("dry_run", "name", ""),
    *(("recurse", other, "index each repository by itself") for other in (
        "rev", "dry_run", "reset", "include", "exclude", "graph")),
)  # fmt: skip
"""Pairs of options that exclude each other, with the hint."""


def _check_options(given: Mapping[str, object]) -> None:
    """Raise UsageError for options that exclude each other."""
    for one, other, hint in _EXCLUSIVE:
        if given[one] and given[other]:
            raise UsageError(f"`{_long_name(one)}` and `{_long_name(other)}` exclude each other", hint=hint)
    for option in ("since", "background"):
        if given[option] and not given["history"]:
            raise UsageError(f"`--{option}` applies to `--history`", hint="add `--history`")
    if given["name"]:
        check_name(str(given["name"]))


def _long_name(parameter: str) -> str:
    return "--" + {"recurse": "recurse-submodules"}.get(parameter, parameter.replace("_", "-"))


def _recurses(given: Mapping[str, object], workspace: Workspace, *, recurse: bool | None) -> bool:
    """Return whether repositories inside of the working tree are indexed: by the option, or by the setting alone."""
    if recurse is not None or any(given[other] for one, other, _ in _EXCLUSIVE if one == "recurse"):
        return bool(recurse)
    return workspace.settings.recurse_submodules == "true" and workspace.location.worktree is not None


def _find_repository(
    ctx: click.Context, path: str, rev: str, name: str, *, needs_url: bool, dry_run: bool
) -> tuple[Workspace, str]:
    """Open the repository of a path, or fetch the one of a URL; return it with the revision to index, "" for HEAD.

    HEAD of a clone that was fetched is the wanted revision. `needs_url` says that an option applies to URLs alone.
    """
    is_remote = is_remote_url(path) and not os.path.lexists(os.path.join(ctx.obj.folder, path))  # noqa: PTH118
    if is_remote:
        path, rev = _fetch(ctx, path), ""
    elif needs_url:
        raise UsageError(
            "`--shallow` and `--fresh` apply to a URL", hint="gitmem index https://github.com/pallets/flask"
        )
    workspace = _open(ctx, path, dry_run=dry_run)
    if name or is_remote:
        _enter(workspace, name)
    return workspace, rev


def _find_tree(workspace: Workspace, rev: str) -> tuple[str | None, str]:
    """Return the tree of a revision, by default of HEAD, and its name in messages."""
    if rev:
        return resolve(workspace.location, rev).tree, rev
    return workspace.location.head_tree, describe_head(workspace.location)


def _fetch(ctx: click.Context, url: str) -> str:
    """Clone a URL or fetch into its clone, and return the folder of the clone."""
    from gitmem.actions.remote_index import fetch_repository  # most runs use no network
    from gitmem.cli.error_output import say
    from gitmem.git.remote_clone import CloneOptions

    given = ctx.params
    for option in ("dry_run", "uncommitted", "recurse"):
        if given[option]:
            raise UsageError(f"`{_long_name(option)}` does not apply to a URL", hint="leave it out")

    def announce(action: str) -> None:
        if not (ctx.obj.quiet or given["as_json"]):
            say(f"{action} {url}")

    options = CloneOptions(given["rev"], given["shallow"], given["fresh"])
    return str(fetch_repository(url, Path(ctx.obj.folder), os.environ, options, announce))


def _enter(workspace: Workspace, name: str) -> None:
    """Put a repository into the list under its name. Raises UsageError if there is none but a name is given."""
    from gitmem.actions.repos import enter_repository  # most runs are those of known repositories

    if enter_repository(workspace, os.environ, name) is None and name:
        raise UsageError("the registry of repositories is disabled", hint="unset GITMEM_NO_REGISTRY, and set HOME")


def _open(ctx: click.Context, path: str, *, dry_run: bool) -> Workspace:
    """Open the repository of a path. A folder or file outside of any becomes known, in a dry run to this process."""
    try:
        workspace = open_here(ctx.obj, path)
        if not path or dry_run or not workspace.location.plain:
            return workspace
    except OutsideRepository:
        if not path:
            raise
    from gitmem.git.plain_folders import make_plain_folder  # few runs are the first one of a folder

    if dry_run:
        _use_temporary_data_folder(ctx)

    # Also for a known folder: a file may be added to it, or the whole of it after single files.
    make_plain_folder(Path(ctx.obj.folder) / path, os.environ)
    return open_here(ctx.obj, path)


def _use_temporary_data_folder(ctx: click.Context) -> None:
    """Keep this process from writing into the data folder of the user, until the command ends."""
    import shutil  # both are slow to import
    import tempfile

    known, folder = os.environ.get(_DATA_VARIABLE), tempfile.mkdtemp(prefix="gitmem-")

    def restore() -> None:
        os.environ.pop(_DATA_VARIABLE, None)
        if known is not None:
            os.environ[_DATA_VARIABLE] = known
        shutil.rmtree(folder, ignore_errors=True)

    ctx.obj.at_end(restore)
    os.environ[_DATA_VARIABLE] = folder


def _remove_index(workspace: Workspace) -> None:
    from gitmem.actions.uninstall import remove_own_index  # the other runs need nothing of it

    remove_own_index(workspace)
