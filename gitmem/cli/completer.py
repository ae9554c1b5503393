"""Link arguments and options to the values that complete them, without importing those modules."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

AFTER_DASHES: Final = "gitmem.after_dashes"
"""Key of a context's `meta`: whether `--` was given, so that completion offers paths."""

_VALUES: Final = "gitmem.cli.completion_values"
"""Module that only a completion needs."""


def complete(kind: str) -> Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]:
    """Return the `shell_complete` of an argument or option whose values are of a kind of `completion_values`."""

    def complete_value(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        values: list[CompletionItem] = import_module(_VALUES).complete_value(kind, ctx, incomplete)
        return values

    return complete_value
