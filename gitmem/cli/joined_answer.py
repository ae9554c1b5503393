"""Answer a query about names in one repository or in several, and print its notes."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from gitmem.answering.repository_selection import ALL
from gitmem.answering.trees_json import describe_trees, tree_notes
from gitmem.cli import console
from gitmem.cli.context import is_quiet
from gitmem.cli.error_output import say
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.answering.joined_trees import Joined, JoinedTrees, TreesQuery
    from gitmem.answering.trees_json import TreesAnswer

    Use = Callable[[JoinedTrees, Callable[[], None]], Joined]


def repository_names(repositories: Sequence[str], *, everything: bool) -> tuple[str, ...]:
    """Return the names of the options `--repo` and `--all`."""
    return (*repositories, *((ALL,) if everything else ()))


def answer_joined(own: Workspace | None, query: "TreesQuery", use: "Use[Joined]", *, refresh: bool) -> "Joined":
    """Return an answer from some repositories, for a client of this process from the trees that it holds open.

    `use` gets the trees and a function that raises if the client is gone.
    """
    client = console.client_console()
    if client is not None:
        return client.answers.answer_joined(query, use, refresh=refresh)
    from gitmem.answering.joined_trees import read_joined  # most commands look in one repository

    return read_joined(own, query, os.environ, lambda trees: use(trees, lambda: None), refresh=refresh)


def put_notes(ctx: click.Context, answer: "TreesAnswer") -> None:
    """Print the notes of an answer, unless the command is quiet."""
    for note in [] if is_quiet(ctx) else tree_notes(answer.trees, answer.notes):
        say(f"note: {note}")


def describe_answer(answer: "TreesAnswer") -> str:
    """Return which trees were searched, and the time."""
    return f"{describe_trees(answer.trees)}, {answer.stats['query_time_ms']:.0f} ms"
