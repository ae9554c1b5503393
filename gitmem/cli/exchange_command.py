"""Options of `gitmem push`, `gitmem pull` and `gitmem sync`, and the choice between records and the index."""

from collections.abc import Callable

import click

from gitmem.cli.index_sharing import index_option, require_index, run_index_exchange, store_option
from gitmem.cli.sharing import dry_run_option, remote_argument, run_exchange, share_secrets_option, yes_option
from gitmem.cli.text_input import json_option
from gitmem.errors import ExitCode

Decorator = Callable[[Callable[..., ExitCode]], Callable[..., ExitCode]]


def exchange_options(*, pushes: bool) -> Decorator:
    """Add the options of a command that exchanges records or an index with a remote, in the order of its help."""
    of_pushes = (share_secrets_option, yes_option) if pushes else ()
    options = (remote_argument, index_option, store_option, dry_run_option, *of_pushes, json_option)

    def add(function: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def exchange_with_remote(
    ctx: click.Context, *, pull: bool, push: bool, remote: str, index: bool, store: str, dry_run: bool, as_json: bool,
    yes: bool = True, allow_secrets: bool = False,
) -> ExitCode:  # fmt: skip
    """Exchange records, or with `--index` rows of the index, and print the changes."""
    if index:
        return run_index_exchange(ctx, remote, store, pull=pull, push=push, dry_run=dry_run, as_json=as_json)
    require_index(store)
    return run_exchange(ctx, remote, pull=pull, push=push, dry_run=dry_run, as_json=as_json, yes=yes,
                        allow_secrets=allow_secrets)  # fmt: skip
