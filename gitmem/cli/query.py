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
from gitmem.cli.filter_options import filter_options, take_filters
from gitmem.errors import ExitCode, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.memory.kinds import CHOICES, parse_kinds

_MOST_BYTES: Final = 4 * MAX_QUERY + 64
"""Bytes to read from standard input: more than a query of maximum length has in any encoding."""


@click.command()
@click.argument("text", metavar="TEXT|-")
@click.option(
    "--rev", metavar="REV", default="", help="Search a commit, tag, branch or tree, without uncommitted files."
)
@click.option("--staged", is_flag=True, help="Search the staged files.")
@click.option("--changed", metavar="A..B", default="", help="Search only the changes between two revisions.")
@click.option("--path", "include", metavar="GLOB", multiple=True, help="Search only these paths (gitignore syntax).")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Exclude these paths.")
@click.option("--lang", "languages", metavar="NAME", multiple=True, help="Search only this language (python, ts, c++).")
@click.option(
    "--type", "chunk_types", metavar="TYPE", multiple=True, help="Search only this chunk type (function, ...)."
)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(CHOICES),
    multiple=True,
    metavar="KIND",
    help="Search code, documents, notes, conversations or all.  [default: code, documents]",
)
@filter_options(
    "source",
    "sensitivity",
    "visibility",
    "conversation",
    "since",
    "until",
    "min_confidence",
    type_="--record-type",
)
@click.option("--mode", type=click.Choice(MODES), default="hybrid", help="Use both scores or one.")
@format_options
@neighbors_option
@click.option("--explain", is_flag=True, help="Explain the score of each result.")
@click.option("--no-refresh", is_flag=True, help="Do not index anything before the search.")
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
    """Search the code in words or by symbol.

    Searches the working tree, including uncommitted files. Files that are not indexed yet are indexed first, within a
    time budget. A filter given several times matches any of its values. The exit code is 0 with results and 1 without.

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
    record_filters = take_filters(shown)
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
    filters = SearchFilters(kinds=kinds, records=take_filters(shown))
    form = Format.load(ctx, limit, shown)
    workspace = open_here(ctx)
    query = Query(text, form.limit, filters=filters, neighbors=form.neighbors)
    return write_answer(workspace, answer(workspace, query), form)


def read_query(text: str) -> str:
    """Return the query, read from standard input if it is `-`. Raises UsageError if it is not text."""
    if text != "-":
        data = os.fsencode(text)
    elif sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed", hint='pass the query: gitmem query "where are cookies signed"')
    else:
        data = _read_bounded()
    try:
        # Input at the bound may be cut inside a character; only shorter input must be complete UTF-8.
        query, _ = codecs.utf_8_decode(data, "strict", len(data) < _MOST_BYTES)
    except UnicodeDecodeError as problem:
        raise UsageError("the query is binary data", hint="search in words or symbols, in UTF-8") from problem
    return query.strip() if text == "-" else query


def _read_bounded() -> bytes:
    try:
        return sys.stdin.buffer.read(_MOST_BYTES)
    except OSError as problem:
        raise UsageError(f"standard input cannot be read: {problem.strerror}") from problem
