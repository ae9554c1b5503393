"""Options, input and output that the commands for notes, documents and conversations share."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import click

from gitmem.cli import console
from gitmem.cli.context import find_file, write_json
from gitmem.cli.error_output import say
from gitmem.cli.shown_secrets import shown_text, shown_value
from gitmem.errors import UsageError
from gitmem.memory.note import LIST_DEFAULT

Item = TypeVar("Item")

MAX_BYTES: Final = 64 << 20
"""More bytes than a record may have. Longer input is refused without being read to its end."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
limit_option = click.option(
    "-n", "--limit", type=int, metavar="N", default=LIST_DEFAULT, show_default=True, help="Maximum number of results."
)


def _store_shows_secrets(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.obj.shows_secrets = value


show_secrets_option = click.option(
    "--show-secrets",
    is_flag=True,
    expose_value=False,
    callback=_store_shows_secrets,
    help="Show keys, tokens and passwords.",
)
secrets_option = click.option("--allow-secrets", is_flag=True, help="Store it even if it seems to contain a secret.")


def print_each(
    items: Iterable[Item], as_json: bool, to_json: Callable[[Item], Any], to_line: Callable[[Item], str]
) -> None:
    """Print items one by one, or as a JSON list; secrets are dots unless the command has `--show-secrets`."""
    if as_json:
        write_json([shown_value(to_json(item)) for item in items])
        return
    for item in items:
        console.put(shown_text(to_line(item)))


def print_notices(ctx: click.Context, notices: Iterable[str]) -> None:
    """Print notices to standard error, unless `--quiet` is given."""
    for notice in [] if ctx.obj.quiet else notices:
        say(f"note: {notice}")


def read_content(text: str) -> str:
    """Return a text of the command line, or standard input for `-`. Raises UsageError for invalid UTF-8."""
    data = read_input("-") if text == "-" else os.fsencode(text)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("the text is not valid UTF-8") from error


def read_input(file: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`. Raises UsageError."""
    if file == "-" and (sys.stdin is None or sys.stdin.closed):
        raise UsageError("standard input is closed")
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with find_file(file).open("rb") as opened:
                data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"`{file}` is larger than {MAX_BYTES >> 20} MiB")
    return data


def read_lines(file: str) -> Iterator[str]:
    """Yield the lines of a file, or of standard input for `-`. Raises UsageError.

    Invalid UTF-8 becomes lone surrogates, so that only the line that contains it is invalid.
    """
    if file == "-" and (sys.stdin is None or sys.stdin.closed):
        raise UsageError("standard input is closed")
    try:
        if file == "-":
            yield from (line.decode("utf-8", "surrogateescape") for line in sys.stdin.buffer)
            return
        with find_file(file).open("rb") as opened:
            yield from (line.decode("utf-8", "surrogateescape") for line in opened)
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror}") from error
