"""The options that limit which records are found."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from gitmem.records.filters import RecordFilters, parse_filters

_OPTIONS: Final[Mapping[str, Callable[[Callable[..., int]], Callable[..., int]]]] = {
    "source": click.option("--source", metavar="NAME", multiple=True, help="Only documents of this system."),
    "sensitivity": click.option(
        "--sensitivity", metavar="WORD", multiple=True, help="Only documents this sensitive (normal, sensitive)."
    ),
    "visibility": click.option(
        "--visibility", metavar="WORD", multiple=True, help="Only documents for these (me, team, org, custom)."
    ),
    "conversation": click.option(
        "--conversation", metavar="NAME", multiple=True, help="Only notes and turns of this conversation."
    ),
    "since": click.option("--since", metavar="TIME", default="", help="Only records from then on, as ISO 8601."),
    "until": click.option("--until", metavar="TIME", default="", help="Only records until then, as ISO 8601."),
    "min_confidence": click.option(
        "--min-confidence", type=float, metavar="0..1", default=0.0, help="Only notes at least this sure."
    ),
}


def limit_options(*names: str, type_: str = "--type") -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add options by the names of what they limit; `type_` is what the option for the type of a record is called."""

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        for name in reversed(names):
            function = _OPTIONS[name](function)
        help_ = "Only records of this type (decision, email)."
        return click.option(type_, "type_", metavar="TYPE", multiple=True, help=help_)(function)

    return decorate


def take_limits(shown: dict[str, Any]) -> RecordFilters:
    """The limits among a command's options, taken out of them. Raises UsageError."""
    return parse_filters(**{name: shown.pop(name) for name in ("type_", *_OPTIONS) if name in shown})
