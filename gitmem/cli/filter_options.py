"""Options that filter records by their fields."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from gitmem.records.filters import RecordFilters, parse_filters

_OPTIONS: Final[Mapping[str, Callable[[Callable[..., int]], Callable[..., int]]]] = {
    "source": click.option("--source", metavar="NAME", multiple=True, help="Search only documents of this system."),
    "sensitivity": click.option(
        "--sensitivity", metavar="WORD", multiple=True, help="Search only this sensitivity (normal, sensitive)."
    ),
    "visibility": click.option(
        "--visibility", metavar="WORD", multiple=True, help="Search only this visibility (me, team, org, custom)."
    ),
    "conversation": click.option(
        "--conversation", metavar="NAME", multiple=True, help="Search only this conversation and its notes."
    ),
    "since": click.option("--since", metavar="TIME", default="", help="Search only records since this ISO 8601 time."),
    "until": click.option("--until", metavar="TIME", default="", help="Search only records until this ISO 8601 time."),
    "min_confidence": click.option(
        "--min-confidence", type=float, metavar="0..1", default=0.0, help="Minimum confidence of a note."
    ),
}


def filter_options(*names: str, type_: str = "--type") -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add the options for the named fields; `type_` is the name of the option for the type of a record."""

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        for name in reversed(names):
            function = _OPTIONS[name](function)
        help_ = "Search only records of this type (decision, email)."
        return click.option(type_, "type_", metavar="TYPE", multiple=True, help=help_)(function)

    return decorate


def take_filters(options: dict[str, Any]) -> RecordFilters:
    """Remove the filters from a command's options and return them. Raises UsageError."""
    return parse_filters(**{name: options.pop(name) for name in ("type_", *_OPTIONS) if name in options})
