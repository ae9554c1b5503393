"""`--index` of `gitmem push`, `gitmem pull` and `gitmem sync`: exchange the index instead of the records."""

import os
from collections.abc import Callable
from typing import Any, Final

import click

from gitmem.cli.completer import complete
from gitmem.cli.context import find_file, open_here, write_json
from gitmem.cli.text_input import print_notices
from gitmem.display import count, size, visible
from gitmem.errors import ExitCode, UsageError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

index_option: Final[Decorator] = click.option(
    "--index", is_flag=True, help="Exchange rows of the index instead of records."
)

store_option: Final[Decorator] = click.option(
    "--store",
    metavar="DIR|URL",
    default="",
    shell_complete=complete("folders"),
    help="Folder or bucket (s3://NAME/PATH) for `--index` instead of the remote.  [default: gitmem.indexStore]",
)


def require_index(store: str) -> None:
    """Refuse a store for records. Raises UsageError."""
    if store:
        raise UsageError("`--store` is for the index alone: records travel through git", hint="add `--index`")


def run_index_exchange(
    ctx: click.Context, remote: str, store: str, *, pull: bool, push: bool, dry_run: bool, as_json: bool
) -> ExitCode:
    """Exchange the index with a remote, and print the changes."""
    from gitmem.actions.index_exchange import pull_index, push_index  # imports numpy, which records do without

    workspace = open_here(ctx.obj)
    store = find_store(store)
    pulled = pull_index(workspace, remote, store=store, dry_run=dry_run) if pull else None
    pushed = push_index(workspace, remote, store=store, dry_run=dry_run) if push else None
    print_notices(ctx, [*dict.fromkeys([*(pulled.notices if pulled else ()), *(pushed.notices if pushed else ())])])
    if as_json:
        write_json({
            "pulled": _as_json(pulled) if pulled else None,
            "pushed": _as_json(pushed) if pushed else None,
            "dry_run": dry_run,
        })  # fmt: skip
        return ExitCode.OK
    would = "would be " if dry_run else ""
    if pulled:
        print(f"from {visible(pulled.remote)}: {count(pulled.blobs, 'blob')} {would}taken, "
              f"{count(pulled.rows, 'chunk')}, {size(pulled.bytes)}; "
              f"{_missing(pulled.missing, pulled.absent)}")  # fmt: skip
        if pulled.blobs:
            print(_describe_check(pulled.checked, pulled.vectors, embedded=pulled.embedded))
    if pushed:
        print(f"{count(pushed.blobs, 'blob')} {would}pushed to {visible(pushed.remote)} for {pushed.commit[:12]}, "
              f"{size(pushed.bytes)}")  # fmt: skip
        print(f"digest {pushed.digest.digest}" if pushed.digest else "no digest: not every file is indexed")
    return ExitCode.OK


def _missing(blobs: int, absent: int) -> str:
    parts = [f"{count(blobs, 'blob')} not shared: `gitmem index` embeds them"] if blobs else []
    parts += [f"{count(absent, 'blob')} not in this partial clone: `git checkout` fetches them"] if absent else []
    return "; ".join(parts) or "HEAD is complete"


def find_store(store: str) -> str:
    """Return a store of the command line: a relative folder starts where the command was given."""
    if not store or "://" in store:
        return store
    return os.path.abspath(find_file(os.path.expanduser(store)))  # noqa: PTH100, PTH111 (`resolve` follows links)


def _describe_check(blobs: int, vectors: int, *, embedded: bool) -> str:
    """Return the line about the compared rows."""
    how = "embedded again" if embedded else "without asking the model: only those of texts that are known here"
    return f"checked: {count(blobs, 'blob')} chunked again, {count(vectors, 'vector')} compared ({how})"


def _as_json(result: Any) -> dict[str, Any]:
    """Return a result as JSON values, without notices, which are printed."""
    values = {name: value for name, value in result._asdict().items() if name != "notices"}
    if values.get("digest"):
        values["digest"] = values["digest"]._asdict()
    return values
