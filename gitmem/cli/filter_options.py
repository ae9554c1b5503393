"""Options that filter code, records and the code of the past."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from gitmem.answering.filter_names import parse_chunk_types, parse_languages
from gitmem.answering.search_query import SearchFilters
from gitmem.cli.completer import complete
from gitmem.errors import UsageError
from gitmem.named_tuple import NamedTuple
from gitmem.records.filters import RecordFilters, parse_filters

_OPTIONS: Final[Mapping[str, Callable[[Callable[..., int]], Callable[..., int]]]] = {
    "source": click.option("--source", metavar="NAME", multiple=True, help="Search only documents from this system."),
    "sensitivity": click.option(
        "--sensitivity",
        metavar="WORD",
        shell_complete=complete("sensitivities"),
        multiple=True,
        help="Search only documents of this sensitivity (normal, ...).",
    ),
    "visibility": click.option(
        "--visibility",
        metavar="WORD",
        shell_complete=complete("visibilities"),
        multiple=True,
        help="Search only records of this visibility (me, team, ...).",
    ),
    "conversation": click.option(
        "--conversation",
        metavar="NAME",
        shell_complete=complete("conversations"),
        multiple=True,
        help="Search only notes and turns of this conversation.",
    ),
    "since": click.option(
        "--since",
        metavar="TIME",
        default="",
        help="Earliest time of a record, a commit or the last change of code (ISO 8601).",
    ),
    "until": click.option("--until", metavar="TIME", default="", help="Latest time of the same."),
    "author": click.option(
        "--author",
        metavar="TEXT",
        multiple=True,
        help="Search only commits, or code last changed by them, whose author has it in name or address.",
    ),
    "min_confidence": click.option(
        "--min-confidence", type=float, metavar="0..1", default=0.0, help="Minimum confidence of a note."
    ),
}


def filter_options(
    *names: str, type_: str = "--type", type_help: str = "Search only records of this type (decision, email)."
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add the options of the named filters, and the option `type_` for the type of a record."""

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        # Decorators apply from the inside out, and help lists options in the order of the outermost first.
        for name in reversed(names):
            function = _OPTIONS[name](function)
        return click.option(
            type_, "type_", metavar="TYPE", shell_complete=complete("record types"), multiple=True, help=type_help
        )(function)

    return decorate


def take_filters(options: dict[str, Any]) -> RecordFilters:
    """Remove the filters from a command's options and return them, checked. Raises UsageError."""
    return parse_filters(**{name: options.pop(name) for name in ("type_", *_OPTIONS) if name in options})


_CODE_OPTIONS: Final = (
    click.option(
        "--path",
        "include",
        metavar="GLOB",
        shell_complete=complete("tree paths"),
        multiple=True,
        help="Search only these paths (gitignore syntax).",
    ),
    click.option(
        "--exclude", metavar="GLOB", shell_complete=complete("tree paths"), multiple=True, help="Exclude these paths."
    ),
    click.option(
        "--lang",
        "languages",
        metavar="NAME",
        shell_complete=complete("languages"),
        multiple=True,
        help="Search only this language (python, ts, c++).",
    ),
    click.option(
        "--type",
        "chunk_types",
        metavar="TYPE",
        shell_complete=complete("chunk types"),
        multiple=True,
        help="Search only this chunk type (function, ...).",
    ),
    click.option(
        "--file",
        "files",
        metavar="PATH",
        shell_complete=complete("tree paths"),
        multiple=True,
        help="Search only this file (path from the root).",
    ),
    click.option(
        "--folder",
        "folders",
        metavar="FOLDER",
        multiple=True,
        help="Search only this folder (a name, /path from the root, or glob).",
    ),
)


def code_filter_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that filter code by path, language and type of chunk."""
    for option in reversed(_CODE_OPTIONS):
        function = option(function)
    return function


def take_code_filters(options: dict[str, Any]) -> SearchFilters:
    """Remove the filters of code from a command's options and return them, checked. Raises UsageError."""
    return SearchFilters(
        languages=parse_languages(options.pop("languages")),
        chunk_types=parse_chunk_types(options.pop("chunk_types")),
        **{name: options.pop(name) for name in ("include", "exclude", "files", "folders")},
    )


class PastOptions(NamedTuple):
    """Options of a search of the past: whether there is one, and the commits that introduced or removed the code."""

    history: bool
    introduced: str
    removed: str
    newest: bool


_PAST_OPTIONS: Final = (
    click.option(
        "--history", is_flag=True, help="Search the code of the past too: removed definitions, and former versions."
    ),
    click.option(
        "--introduced",
        metavar="A..B|COMMIT",
        shell_complete=complete("ranges"),
        default="",
        help="With --history: only definitions that these commits introduced.",
    ),
    click.option(
        "--removed",
        metavar="A..B|COMMIT",
        shell_complete=complete("ranges"),
        default="",
        help="With --history: only definitions that these commits removed.",
    ),
    click.option("--newest", is_flag=True, help="With --history: sort the results by their end, the latest first."),
)


def past_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a search of the past."""
    for option in reversed(_PAST_OPTIONS):
        function = option(function)
    return function


def take_past_options(options: dict[str, Any]) -> PastOptions:
    """Remove the options of a search of the past from a command's options and return them. Raises UsageError."""
    past = PastOptions(**{name: options.pop(name) for name in PastOptions._fields})
    if not past.history:
        for name in ("introduced", "removed", "newest"):
            if getattr(past, name):
                raise UsageError(f"`--{name}` applies to `--history`", hint="add `--history`")
    return past
