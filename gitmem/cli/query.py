"""`gitmem query`, also called `gitmem search`."""

import os
import sys
from typing import Final

import click

from gitmem.actions.query import MAX_QUERY, MODES, Answer, Request, answer
from gitmem.cli.failures import say
from gitmem.cli.names import parse_kinds, parse_languages
from gitmem.cli.results import answer_json, describe_view, format_hit, hit_json
from gitmem.cli.session import is_quiet, open_here, write_json, write_json_line
from gitmem.cli.style import CHOICES, Style, choose_style
from gitmem.cli.text import visible
from gitmem.errors import UsageError

MAX_CONTEXT: Final = 1000
_MOST_BYTES: Final = 4 * MAX_QUERY + 64
"""More than a question may have in any encoding: what stands behind need not be read to be refused."""


@click.command()
@click.argument("text", metavar="TEXT|-")
@click.option("-n", "--limit", type=int, metavar="N", help="At most this many results.  [default: 10]")
@click.option("--rev", metavar="REV", default="", help="Ask another commit, tag, branch or tree.")
@click.option("--path", "include", metavar="GLOB", multiple=True, help="Only these paths (gitignore syntax).")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Not these paths.")
@click.option("--lang", "languages", metavar="NAME", multiple=True, help="Only this language (python, ts, c++).")
@click.option("--type", "kinds", metavar="TYPE", multiple=True, help="Only this type (function, class, section).")
@click.option("--mode", type=click.Choice(MODES), default="hybrid", help="By words and meaning, or one of them.")
@click.option("-C", "--context", type=click.IntRange(0, MAX_CONTEXT), metavar="N", default=0,
              help="Show N lines around each result.")  # fmt: skip
@click.option("--full", is_flag=True, help="Show whole chunks.")
@click.option("-l", "--paths-only", is_flag=True, help="Show nothing but the paths.")
@click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
@click.option("--jsonl", "as_lines", is_flag=True, help="Answer as JSON, one result a line.")
@click.option("--no-refresh", is_flag=True, help="Index nothing before answering.")
@click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    text: str,
    limit: int | None,
    rev: str,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    languages: tuple[str, ...],
    kinds: tuple[str, ...],
    mode: str,
    context: int,
    full: bool,
    paths_only: bool,
    as_json: bool,
    as_lines: bool,
    no_refresh: bool,
    color: str,
) -> int:
    """Ask in words or symbols, get the code.

    Files that HEAD has and the index lacks are indexed first, where they are few. Several filters of one kind mean
    any of them. The exit code is 0 with results and 1 without.

    \b
    Examples:
      gitmem query "where are cookies signed"
      gitmem query SessionInterface.save_session
      gitmem query --rev v0.12 --path src/ --lang python "error handling"
      git log -1 --format=%B | gitmem query -
    """
    if sum((paths_only, as_json, as_lines)) > 1:
        raise click.UsageError("`-l`, `--json` and `--jsonl` exclude each other", ctx)
    workspace = open_here(ctx)
    request = Request(
        text=read_question(text),
        limit=_checked_limit(limit),
        rev=rev,
        include=include,
        exclude=exclude,
        languages=parse_languages(languages),
        kinds=parse_kinds(kinds),
        mode=mode,
        refresh=not no_refresh,
    )
    made = answer(workspace, request)
    for note in [] if is_quiet(ctx) else made.notes:
        say(f"note: {note}")
    if as_json:
        write_json(answer_json(made))
    elif as_lines:
        for hit, lines in made.hits:
            write_json_line(hit_json(hit, lines))
    elif paths_only:
        _write_paths(made)
    elif made.hits:
        around = None
        if context:
            from gitmem.actions.excerpt import read_around

            around = read_around(workspace.location, [hit for hit, _ in made.hits], context)
        _write_hits(made, choose_style(color, os.environ), full=full, around=around, footer=not is_quiet(ctx))
    if not made.hits:
        say(_nothing_found(made))
    return 0 if made.hits else 1


def read_question(text: str) -> str:
    """The question itself, or standard input for `-`. Raises UsageError for what is no text."""
    if text != "-":
        data = os.fsencode(text)
    elif sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed", hint='ask directly: gitmem query "where are cookies signed"')
    else:
        data = _read_bounded()
    try:
        question = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UsageError("the query is binary data", hint="ask in words or symbols, in UTF-8") from problem
    return question.strip() if text == "-" else question


def _read_bounded() -> bytes:
    try:
        data = sys.stdin.buffer.read(_MOST_BYTES)
    except OSError as problem:
        raise UsageError(f"standard input cannot be read: {problem.strerror}") from problem
    while data and data[-1] & 0x80 and len(data) == _MOST_BYTES:
        data = data[:-1]  # the cut may have gone through a character
    return data


def _checked_limit(limit: int | None) -> int:
    if limit is not None and limit < 1:
        raise UsageError(f"the limit is {limit}, it must be at least 1")
    return limit or 0


def _write_paths(made: Answer) -> None:
    for path in dict.fromkeys(hit.path for hit, _ in made.hits):
        print(visible(path))


def _write_hits(
    made: Answer,
    style: Style,
    *,
    full: bool,
    around: list[tuple[list[str], list[str]]] | None,
    footer: bool,
) -> None:
    for place, (hit, lines) in enumerate(made.hits):
        beside = around[place] if around else ((), ())
        print("\n".join(format_hit(hit, lines, made.terms, style, full=full, around=beside)))
    if footer:
        print(style.paint("dim", describe_view(made.view, made.stats["query_time_ms"])))


def _nothing_found(made: Answer) -> str:
    request = made.request
    tree = describe_view(made.view, made.stats["query_time_ms"])
    if request.include or request.exclude or request.languages or request.kinds:
        return f"no results; the filters may be the cause ({tree})"
    return f"no results ({tree})"
