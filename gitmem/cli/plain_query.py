"""Parse `gitmem query` with no or only common options. Loading click for it would take a tenth of a query.

Any other command line is left to click, and so is every mistake: it has the messages.
"""

from collections.abc import Mapping
from typing import Final

from gitmem.cli.leading_options import COMPLETION, CommandLine, split_command_line
from gitmem.named_tuple import NamedTuple

_COMMANDS: Final = ("query", "search")
FLAGS: Final = {
    "--json": "as_json",
    "--jsonl": "as_lines",
    "-l": "paths_only",
    "--paths-only": "paths_only",
    "--full": "full",
}
"""Options of the command that are parsed here, with its parameters."""

_EXCLUDING: Final = frozenset({"as_json", "as_lines", "paths_only"})
"""Flags of which one at most may be given."""

_MAX_DIGITS: Final = 9


class PlainQuery(NamedTuple):
    """Command line of a query. `limit` 0 means the configured default; the flags are parameters of the command."""

    line: CommandLine
    words: tuple[str, ...]
    limit: int
    flags: frozenset[str]


def parse_plain_query(args: list[str], environment: Mapping[str, str]) -> PlainQuery | None:
    """Return the query of a command line, or None if click must parse it."""
    line = split_command_line(args)
    if line is None or line.command not in _COMMANDS or COMPLETION in environment:
        return None
    flags: set[str] = set()
    words: list[str] = []
    limit, rest = 0, iter(line.args)
    for arg in rest:
        if arg in FLAGS:
            flags.add(FLAGS[arg])
        elif arg in ("-n", "--limit"):
            limit = _parse_limit(next(rest, ""))
            if not limit:
                return None
        elif arg.startswith("-") and arg != "-":
            return None
        else:
            words.append(arg)
    is_plain = words and len(_EXCLUDING & flags) <= 1
    return PlainQuery(line, tuple(words), limit, frozenset(flags)) if is_plain else None


def _parse_limit(text: str) -> int:
    """Return a positive number in plain digits, 0 for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else 0
