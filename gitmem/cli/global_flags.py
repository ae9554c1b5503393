"""The global flags behind a command: users write `gitmem init -q`, too."""

import copy
from typing import Final

import click

from gitmem.cli.invocation import current_invocation

_ATTRIBUTES: Final = {
    ("-q", "--quiet"): ("quiet", True),
    ("--no-pager",): ("pager", False),
    ("--no-server",): ("server", False),
}
"""Names of each flag, with the attribute of the invocation that it sets and its value."""


def with_global_flags(command: click.Command) -> click.Command:
    """Return a command that also takes the global flags, which its help does not show."""
    known = {name for param in command.params for name in param.opts}
    flags = [
        _flag(names, attribute, value) for names, (attribute, value) in _ATTRIBUTES.items() if known.isdisjoint(names)
    ]
    wider = copy.copy(command)
    wider.params = [*command.params, *flags]
    return wider


def _flag(names: tuple[str, ...], attribute: str, value: bool) -> click.Option:
    def apply(_context: click.Context, _param: click.Parameter, given: bool) -> None:
        if given:
            setattr(current_invocation(), attribute, value)

    return click.Option(names, is_flag=True, hidden=True, expose_value=False, callback=apply)
