"""What the commands that take text in share: content from the command line or standard input, and their options."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from gitmem.cli.context import is_quiet, write_json
from gitmem.cli.error_output import say
from gitmem.errors import UsageError
from gitmem.memory.note import LIST_DEFAULT

Item = TypeVar("Item")

MOST_BYTES: Final = 64 << 20
"""More than any record may have: what stands behind need not be read to be refused."""

json_option = click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
limit_option = click.option(
    "-n", "--limit", type=int, metavar="N", default=LIST_DEFAULT, show_default=True, help="At most this many."
)
secrets_option = click.option("--allow-secrets", is_flag=True, help="Keep it even if it seems to hold a key or token.")


def write_each(items: Iterable[Item], as_json: bool, plain: Callable[[Item], Any], line: Callable[[Item], str]) -> None:
    """Things one after the other, or as a list of JSON."""
    if as_json:
        write_json([plain(item) for item in items])
        return
    for item in items:
        print(line(item))


def say_notes(ctx: click.Context, notes: Iterable[str]) -> None:
    """Tell on standard error what else there is to know."""
    for note in [] if is_quiet(ctx) else notes:
        say(f"note: {note}")


def read_content(text: str) -> str:
    """A text of the command line, or standard input for `-`. Raises UsageError for what is no UTF-8."""
    data = read_input("-") if text == "-" else os.fsencode(text)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UsageError("the text is no UTF-8") from problem


def read_input(file: str) -> bytes:
    """The bytes of a file, or of standard input for `-`. Raises UsageError."""
    if file == "-" and (sys.stdin is None or sys.stdin.closed):
        raise UsageError("standard input is closed")
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
    except OSError as problem:
        raise UsageError(f"`{file}` cannot be read: {problem.strerror}") from problem
    if len(data) > MOST_BYTES:
        raise UsageError(f"`{file}` is larger than {MOST_BYTES >> 20} MiB")
    return data


def read_lines(file: str) -> Iterator[str]:
    """The lines of a file, or of standard input for `-`; bytes that are no UTF-8 spoil their line alone."""
    if file == "-" and (sys.stdin is None or sys.stdin.closed):
        raise UsageError("standard input is closed")
    try:
        if file == "-":
            yield from (line.decode("utf-8", "surrogateescape") for line in sys.stdin.buffer)
            return
        with Path(file).open("rb") as opened:
            yield from (line.decode("utf-8", "surrogateescape") for line in opened)
    except OSError as problem:
        raise UsageError(f"`{file}` cannot be read: {problem.strerror}") from problem
