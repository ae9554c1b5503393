"""Exchange of records by `gitmem push`, `pull` and `sync`: options, the first confirmation, and output."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import click

from gitmem.cli.confirmation import confirm
from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.shown_secrets import shown_text
from gitmem.cli.text_input import print_notices
from gitmem.display import count, visible
from gitmem.errors import ExitCode
from gitmem.records.exchange import Exchange, exchange
from gitmem.records.transport import Transport

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

remote_argument: Final[Decorator] = click.argument("remote", metavar="[REMOTE]", default="")
dry_run_option: Final[Decorator] = click.option(
    "--dry-run", is_flag=True, help="Fetch and count only; change no record and push nothing."
)
share_secrets_option: Final[Decorator] = click.option(
    "--allow-secrets", is_flag=True, help="Push records even if they seem to contain a secret."
)
yes_option: Final[Decorator] = click.option(
    "-y", "--yes", is_flag=True, help="Do not ask before the first push to a remote."
)


def run_exchange(
    ctx: click.Context,
    remote: str | Transport,
    *,
    pull: bool,
    push: bool,
    dry_run: bool,
    as_json: bool,
    yes: bool = True,
    allow_secrets: bool = False,
) -> ExitCode:
    """Exchange records with a remote, and print the changes."""
    ctx.obj.warns = False  # an exchange refuses then, with the same words
    workspace = open_here(ctx.obj)
    run = partial(
        exchange, workspace, remote, pull=pull, push=push, allow_secrets=allow_secrets, dry_run=dry_run,
        on_wait=say_waiting,
    )  # fmt: skip
    try:
        result = run(approve=None if yes else _ask_first)
    except _FirstPushError as first:
        # Asked here, after the exchange has let go of its lock: a person may take any time to answer.
        question = f"share {count(first.records, 'record')} with everybody who reads `{visible(first.remote)}`?"
        command = f"gitmem {'sync' if pull else 'push'}" if isinstance(remote, str) else remote.command
        confirm(question, f"{command} --yes {visible(first.remote) if isinstance(remote, str) else ''}".rstrip())
        result = run()
    print_notices(ctx, result.notices)
    if as_json:
        write_json(
            {name: value for name, value in result._asdict().items() if name != "notices"} | {"dry_run": dry_run}
        )
    else:
        print(shown_text(_format(result, pull=pull, push=push, dry_run=dry_run)))
    return ExitCode.OK


def say_waiting() -> None:
    """Say that another exchange goes first, perhaps one in the background with a slow remote."""
    say("another process shares or purges records; waiting for it")


class _FirstPushError(Exception):
    """Signal that records would be pushed to a remote for the first time."""

    def __init__(self, records: int, remote: str) -> None:
        super().__init__(remote)
        self.records = records
        self.remote = remote


def _ask_first(records: int, remote: str) -> None:
    raise _FirstPushError(records, remote)


def _format(result: Exchange, *, pull: bool, push: bool, dry_run: bool) -> str:
    would = "would be " if dry_run else ""
    parts = [f"{count(result.sent, 'change')} {would}pushed to {visible(result.remote)}"] if push else []
    if pull:
        taken = f"{count(result.added, 'record')} {would}added, {result.changed:,} changed, {result.deleted:,} deleted"
        parts.append(f"from {visible(result.remote)}: {taken}")
    lines = ["; ".join(parts)]
    if result.conflicts:
        names = ", ".join(result.conflicts)
        lines.append(f"changed by two writers, both are kept until one is deleted: {names}")
    lines += ["purged"] if result.purged else []
    return "\n".join(lines)
