"""Colours, width and line breaks of the output, depending on the terminal."""

import re
from collections.abc import Mapping
from typing import Final

from gitmem.cli import console
from gitmem.named_tuple import NamedTuple

CHOICES: Final = ("auto", "always", "never")
PAGER_IN_USE: Final = "GIT_PAGER_IN_USE"
"""Variable that git sets for commands whose output goes to a terminal through a pager."""

_DEFAULT_WIDTH: Final = 100
_MIN_WIDTH: Final = 40
_MAX_INDENT: Final = 16
_CODES: Final = {"path": "35", "symbol": "1", "match": "1;31", "dim": "2"}


class Style(NamedTuple):
    """Style of standard output. `width` is in columns, 0 without a limit."""

    coloured: bool
    width: int = 0

    def paint(self, role: str, text: str) -> str:
        """Return text in the colour of a role: `path`, `symbol`, `match` or `dim`."""
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.coloured and text else text


def choose_style(choice: str, environment: Mapping[str, str]) -> Style:
    """Return the style. By default a terminal has colours, except with NO_COLOR or TERM=dumb.

    CLICOLOR_FORCE and FORCE_COLOR colour other output too. NO_COLOR has precedence over them, and `choice` over all.
    See https://no-color.org, https://bixense.com/clicolors and https://force-color.org.
    """
    terminal = is_terminal(environment)
    if choice != "auto" or environment.get("NO_COLOR"):
        coloured = choice == "always"
    else:
        forced = any(environment.get(name, "0") not in ("", "0") for name in ("CLICOLOR_FORCE", "FORCE_COLOR"))
        coloured = forced or (terminal and environment.get("TERM") != "dumb")
    return Style(coloured, terminal_width(environment) if terminal else 0)


def is_terminal(environment: Mapping[str, str]) -> bool:
    """Return whether standard output is a terminal, or a pager that shows it on one."""
    return console.stdout().isatty() or bool(environment.get(PAGER_IN_USE))


def terminal_width(environment: Mapping[str, str]) -> int:
    """Return the columns of the terminal at standard output or standard error, or behind the pager."""
    width = console.terminal_columns()
    if width is not None:
        return max(_MIN_WIDTH, width)
    columns = environment.get("COLUMNS", "")
    return max(_MIN_WIDTH, int(columns)) if columns.isdecimal() and len(columns) < 5 else _DEFAULT_WIDTH


def print_line(line: str) -> None:
    """Print a line to standard output; on a terminal break it between words. Do not use it for lines to be pasted."""
    variables = console.environment()
    console.put(fold(line, terminal_width(variables)) if is_terminal(variables) else line)


def fold(line: str, width: int) -> str:
    """Break a line between words into lines of at most `width` columns; longer words stay whole.

    Continuation lines are indented like the text after a label (`files      1,914: ...`), else by two more columns.
    """
    if len(line) <= width:
        return line
    label = re.match(r" *\S+ {2,}| *", line)
    indent = label.end() if label and label.group().strip() else len(line) - len(line.lstrip()) + 2
    lines = [""]
    for word in re.findall(r" *\S+", line):
        if lines[-1].strip() and len(lines[-1]) + len(word) > width:
            lines.append(" " * min(indent, _MAX_INDENT) + word.lstrip())
        else:
            lines[-1] += word
    return "\n".join(lines)
