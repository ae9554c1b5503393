"""Colour, and when there is none."""

import os
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

CHOICES: Final = ("auto", "always", "never")
_DEFAULT_WIDTH: Final = 100
_LEAST_WIDTH: Final = 40
_CODES: Final = {"path": "35", "symbol": "1", "match": "1;31", "dim": "2"}


class Style(NamedTuple):
    """How to write for the other end of standard output. `width` 0 is no limit."""

    coloured: bool
    width: int = 0

    def paint(self, what: str, text: str) -> str:
        """Text in the colour of `path`, `symbol`, `match` or `dim`."""
        return f"\x1b[{_CODES[what]}m{text}\x1b[0m" if self.coloured and text else text


def choose_style(choice: str, environment: Mapping[str, str]) -> Style:
    """Colour on a terminal only, unless asked for; https://no-color.org is respected."""
    terminal = sys.stdout.isatty()
    plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    coloured = choice == "always" or (choice == "auto" and terminal and not plain)
    return Style(coloured, terminal_width() if terminal else 0)


def terminal_width() -> int:
    """Columns of the terminal at standard output or standard error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            return max(_LEAST_WIDTH, os.get_terminal_size(stream.fileno()).columns)
        except (OSError, ValueError):
            continue
    return _DEFAULT_WIDTH
