"""Colours and width of the output, depending on the terminal."""

import os
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

CHOICES: Final = ("auto", "always", "never")
_DEFAULT_WIDTH: Final = 100
_MIN_WIDTH: Final = 40
_CODES: Final = {"path": "35", "symbol": "1", "match": "1;31", "dim": "2"}


class Style(NamedTuple):
    """Style of standard output. `width` is in columns, 0 without a limit."""

    coloured: bool
    width: int = 0

    def paint(self, role: str, text: str) -> str:
        """Return text in the colour of a role: `path`, `symbol`, `match` or `dim`."""
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.coloured and text else text


def choose_style(choice: str, environment: Mapping[str, str]) -> Style:
    """Return the style: by default coloured only on a terminal and without NO_COLOR (https://no-color.org)."""
    terminal = sys.stdout.isatty()
    plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    coloured = choice == "always" or (choice == "auto" and terminal and not plain)
    return Style(coloured, terminal_width() if terminal else 0)


def terminal_width() -> int:
    """Return the columns of the terminal at standard output or standard error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            return max(_MIN_WIDTH, os.get_terminal_size(stream.fileno()).columns)
        except (OSError, ValueError):
            continue
    return _DEFAULT_WIDTH
