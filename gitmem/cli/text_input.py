"""Input, options and list output that the commands which store text share."""

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

MAX_BYTES: Final = 64 << 20
"""Bytes to read: more than any record may have, so longer input can be refused without reading all of it."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
limit_option = click.option(
    "-n", "--limit", type=int, metavar="N", default=LIST_DEFAULT, show_default=True, help="Maximum number."
)
secrets_option = click.option("--allow-secrets", is_flag=True, help="Store text even if it contains a key or token.")


def write_each(items: Iterable[Item], as_json: bool, plain: Callable[[Item], Any], line: Callable[[Item], str]) -> None:
    """Print items one per line, or as a JSON list."""
    if as_json:
        write_json([plain(item) for item in items])
        return
    for item in items:
        print(line(item))


def say_notes(ctx: click.Context, notes: Iterable[str]) -> None:
    """Print notes on standard error unless `--quiet` is set."""
    for note in [] if is_quiet(ctx) else notes:
        say(f"note: {note}")


def read_content(text: str) -> str:
    """Return the argument, or standard input for `-`. Raises UsageError if it is not UTF-8."""
    data = read_input("-") if text == "-" else os.fsencode(text)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UsageError("the text is not UTF-8") from problem


def read_input(file: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`. Raises UsageError."""
    if file == "-" and (sys.stdin is None or sys.stdin.closed):
        raise UsageError("standard input is closed")
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise UsageError(f"`{file}` cannot be read: {problem.strerror}") from problem
    if len(data) > MAX_BYTES:
        raise UsageError(f"`{file}` is larger than {MAX_BYTES >> 20} MiB")
    return data


def read_lines(file: str) -> Iterator[str]:
    """Yield the lines of a file, or of standard input for `-`. Invalid UTF-8 makes only its own line invalid."""
    if file == "-" and (sys.stdin is None or sys.stdin.closed):
        raise UsageError("standard input is closed")
    try:
        if file == "-":
            yield from (line.decode("utf-8", "surrogateescape") for line in sys.stdin.buffer)
            return
        with Path(file).open("rb") as stream:
            yield from (line.decode("utf-8", "surrogateescape") for line in stream)
    except OSError as problem:
        raise UsageError(f"`{file}` cannot be read: {problem.strerror}") from problem
