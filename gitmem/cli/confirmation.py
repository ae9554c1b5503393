"""A question before something that cannot be taken back."""

import click

from gitmem.cli.uninstall import is_asked_by_a_person
from gitmem.errors import UsageError


def confirm(question: str, why: str, unasked: str) -> None:
    """Go on after a yes. `why` and the command `unasked` are told where nobody can answer."""
    if not is_asked_by_a_person():
        raise UsageError(f"{why}, and nobody can answer", hint=unasked)
    if not click.confirm(question, err=True):
        raise click.exceptions.Exit(1)
