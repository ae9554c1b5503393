"""Answer a query about names in one repository or in several, and print the answer."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from gitmem.answering.repository_selection import ALL
from gitmem.answering.trees_json import describe_trees, tree_notes
from gitmem.cli import console
from gitmem.cli.context import page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.style import Style, choose_style
from gitmem.errors import ExitCode
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
    from gitmem.answering.searched_trees import OfRepositories, TreesAnswer
    from gitmem.answering.trees_json import State
    from gitmem.answering.usage_json import PlaceText

    Use = Callable[[JoinedTrees, Callable[[], None]], OfRepositories]

Shown = TypeVar("Shown", bound="TreesAnswer[State]")


class AnswerFormat(NamedTuple, Generic[Shown]):
    """Functions that write an answer as JSON, as lines, its size as a line, and the sentence about an empty one."""

    json: Callable[[Shown], Any]
    lines: Callable[[Shown, Style], Iterable[str]]
    describe: Callable[[Shown], str]
    empty: Callable[[Shown], str]


def repository_names(repositories: Sequence[str], *, everything: bool) -> tuple[str, ...]:
    """Return the names of the options `--repo` and `--all`."""
    return (*repositories, *((ALL,) if everything else ()))


def answer_joined(
    own: Workspace | None, query: "TreesQuery", use: "Use[OfRepositories]", *, refresh: bool
) -> "OfRepositories":
    """Return an answer from some repositories, for a client of this process from the trees that it holds open.

    `use` gets the trees and a function that raises if the client is gone.
    """
    client = console.client_console()
    if client is not None:
        return client.answers.answer_joined(query, use, refresh=refresh)
    from gitmem.answering.joined_trees import read_joined  # most commands look in one repository

    return read_joined(own, query, os.environ, lambda trees: use(trees, lambda: None), refresh=refresh)


def put_answer(
    ctx: click.Context, answer: Shown, formats: AnswerFormat[Shown], *, as_json: bool, color: str
) -> ExitCode:
    """Print an answer behind its notes, and return the exit code. A quiet command has no notes and no last line."""
    page_output(ctx.obj)
    for note in [] if ctx.obj.quiet else tree_notes(answer.trees, answer.notes):
        say(f"note: {note}")
    if as_json:
        write_json(formats.json(answer))
    elif not answer.is_empty:
        _put_lines(ctx, answer, formats, choose_style(color, console.environment()))
    if answer.is_empty:
        say(formats.empty(answer))
    return ExitCode.NO_RESULTS if answer.is_empty else ExitCode.OK


def _put_lines(ctx: click.Context, answer: Shown, formats: AnswerFormat[Shown], style: Style) -> None:
    for line in formats.lines(answer, style):
        console.put(line)
    if not ctx.obj.quiet:
        time = f"{answer.stats['query_time_ms']:.0f} ms"
        parts = (formats.describe(answer), describe_trees(answer.trees), time)
        console.put(style.paint("dim", ", ".join(filter(None, parts))))


def format_place(shown: "PlaceText", style: Style) -> str:
    """Return the line that shows a place."""
    parts = (
        style.paint("path", shown.label),
        style.paint("symbol", shown.symbol) if shown.symbol else "",
        shown.code,
        style.paint("dim", shown.remark) if shown.remark else "",
    )
    return f"  {'  '.join(filter(None, parts))}"
