"""`gitmem query`, also called `gitmem search`."""

import codecs
import os
import sys
from typing import Final

import click

from gitmem.answering.answer import answer
from gitmem.answering.filter_names import parse_chunk_types, parse_languages
from gitmem.answering.search_query import MAX_QUERY, MODES, Query, SearchFilters
from gitmem.cli.answer_output import Format, format_options, neighbors_option, write_answer
from gitmem.cli.context import open_here
from gitmem.cli.filter_options import limit_options, take_limits
from gitmem.errors import ExitCode, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.memory.kinds import CHOICES, parse_kinds

_MOST_BYTES: Final = 4 * MAX_QUERY + 64
"""More than a question may have in any encoding: what stands behind need not be read to be refused."""


@click.command()
@click.argument("text", metavar="TEXT|-")
@click.option("--rev", metavar="REV", default="", help="Ask a commit, tag, branch or tree; HEAD for what is committed.")
@click.option("--staged", is_flag=True, help="Ask what is staged.")
@click.option("--changed", metavar="A..B", default="", help="Find only what changed between two revisions.")
@click.option("--path", "include", metavar="GLOB", multiple=True, help="Only these paths (gitignore syntax).")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Not these paths.")
@click.option("--lang", "languages", metavar="NAME", multiple=True, help="Only this language (python, ts, c++).")
@click.option("--type", "chunk_types", metavar="TYPE", multiple=True, help="Only this type (function, class, section).")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(CHOICES),
    multiple=True,
    metavar="KIND",
    help="Search code, documents, notes, conversations or all.  [default: code, documents]",
)
@limit_options(
    "source",
    "sensitivity",
    "visibility",
    "conversation",
    "since",
    "until",
    "min_confidence",
    type_="--record-type",
)
@click.option("--mode", type=click.Choice(MODES), default="hybrid", help="By words and meaning, or one of them.")
@format_options
@neighbors_option
@click.option("--explain", is_flag=True, help="Show what each result's score is made of.")
@click.option("--no-refresh", is_flag=True, help="Index nothing before answering.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    text: str,
    rev: str,
    staged: bool,
    changed: str,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    languages: tuple[str, ...],
    chunk_types: tuple[str, ...],
    kinds: tuple[str, ...],
    mode: str,
    limit: int | None,
    no_refresh: bool,
    **shown: object,
) -> ExitCode:
    """Ask in words or symbols, get the code.

    The working tree is asked, with all that is uncommitted in it. What the index lacks is indexed first, as far as
    there is time. Several filters of one kind mean any of them. The exit code is 0 with results and 1 without.

    \b
    Examples:
      gitmem query "where are cookies signed"
      gitmem query SessionInterface.save_session
      gitmem query --rev v0.12 --path src/ --lang python "error handling"
      gitmem query --changed main..HEAD "error handling"
      gitmem query -n 1 --explain "error handling"
      gitmem query --kind documents --record-type email --since 2026-01-01 "release date"
      git log -1 --format=%B | gitmem query -
    """
    record_filters = take_limits(shown)
    form = Format.load(ctx, limit, shown)
    workspace = open_here(ctx)
    filters = SearchFilters(
        include=include,
        exclude=exclude,
        languages=parse_languages(languages),
        chunk_types=parse_chunk_types(chunk_types),
        kinds=parse_kinds(kinds),
        records=record_filters,
    )
    query = Query(read_query(text), form.limit, mode, filters, form.neighbors)
    selection = TreeSelection(rev, staged, changed)
    return write_answer(workspace, answer(workspace, query, selection, refresh=not no_refresh), form)


def search_records(
    ctx: click.Context, text: str, kinds: tuple[str, ...], limit: int | None, shown: dict[str, object]
) -> ExitCode:
    """Search some kinds of records and return the exit code. `shown` holds the options of filters and output."""
    filters = SearchFilters(kinds=kinds, records=take_limits(shown))
    form = Format.load(ctx, limit, shown)
    workspace = open_here(ctx)
    query = Query(text, form.limit, filters=filters, neighbors=form.neighbors)
    return write_answer(workspace, answer(workspace, query), form)


def read_query(text: str) -> str:
    """The question itself, or standard input for `-`. Raises UsageError for what is no text."""
    if text != "-":
        data = os.fsencode(text)
    elif sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed", hint='ask directly: gitmem query "where are cookies signed"')
    else:
        data = _read_bounded()
    try:
        # the bound may lie inside a character: only a whole text has to end well
        query, _ = codecs.utf_8_decode(data, "strict", len(data) < _MOST_BYTES)
    except UnicodeDecodeError as problem:
        raise UsageError("the query is binary data", hint="ask in words or symbols, in UTF-8") from problem
    return query.strip() if text == "-" else query


def _read_bounded() -> bytes:
    try:
        return sys.stdin.buffer.read(_MOST_BYTES)
    except OSError as problem:
        raise UsageError(f"standard input cannot be read: {problem.strerror}") from problem
