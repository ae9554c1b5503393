"""Ask the user to confirm an action that cannot be undone."""

import sys

import click

from gitmem.errors import UsageError


def confirm(question: str, hint: str) -> None:
    """Continue if the user answers yes, exit with 1 otherwise.

    Raises: UsageError without a terminal, with `hint`, the command that needs no answer.
    """
    if not is_interactive():
        raise UsageError(f"refusing to continue without a terminal; pass `--yes` to answer: {question}", hint=hint)
    if not click.confirm(question, err=True):
        raise click.exceptions.Exit(1)


def is_interactive() -> bool:
    """Return whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
