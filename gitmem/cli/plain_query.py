"""Parse `gitmem query` with no or only common options. Loading click for it would take a tenth of a query.

Any other command line is left to click, and so is every mistake: it has the messages.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from gitmem.named_tuple import NamedTuple

_COMMANDS: Final = ("query", "search")
_COMPLETION: Final = "_GITMEM_COMPLETE"
_GLOBAL_FLAGS: Final = {"-q": "quiet", "--quiet": "quiet", "--no-pager": "no_pager", "--no-server": "no_server"}
FLAGS: Final = {
    "--json": "as_json",
    "--jsonl": "as_lines",
    "-l": "paths_only",
    "--paths-only": "paths_only",
    "--full": "full",
}
_EXCLUDING: Final = frozenset({"as_json", "as_lines", "paths_only"})
"""Flags of which one at most may be given."""


class PlainQuery(NamedTuple):
    """Command line of a query. `limit` 0 means the configured default; the flags are parameters of the command."""

    command: str
    words: tuple[str, ...]
    folder: str
    limit: int
    flags: frozenset[str]


def parse_plain_query(args: list[str], environment: Mapping[str, str]) -> PlainQuery | None:
    """Return the query of a command line, or None if click must parse it."""
    rest, folder = iter(args), "."
    flags: set[str] = set()
    for arg in rest:
        if arg in _COMMANDS:
            return None if _COMPLETION in environment else _parse_command(arg, rest, flags, folder)
        if arg in _GLOBAL_FLAGS:
            flags.add(_GLOBAL_FLAGS[arg])
        elif arg == "-C":
            folder = next(rest, "")
        else:
            return None
    return None


def _parse_command(command: str, args: Iterator[str], flags: set[str], folder: str) -> PlainQuery | None:
    words, limit = [], 0
    for arg in args:
        if arg in FLAGS:
            flags.add(FLAGS[arg])
        elif arg in ("-n", "--limit"):
            number = next(args, "")
            limit = int(number) if number.isascii() and number.isdigit() else 0
            if not limit:
                return None
        elif arg.startswith("-") and arg != "-":
            return None
        else:
            words.append(arg)
    is_plain = words and folder and len(_EXCLUDING & flags) <= 1
    return PlainQuery(command, tuple(words), folder, limit, frozenset(flags)) if is_plain else None
