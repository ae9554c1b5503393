"""The options and the output that `query` and `related` share."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from gitmem.answering.answer import Answer
from gitmem.answering.answer_json import answer_json, describe_view, first_mentions, hit_json
from gitmem.answering.hit_text import named_hit
from gitmem.cli.context import is_quiet, write_json, write_json_line
from gitmem.cli.error_output import say
from gitmem.cli.hit_output import format_explanation, format_hit
from gitmem.cli.style import CHOICES, Style, choose_style
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.search.explain import Explanation

MAX_CONTEXT: Final = 1000

_OPTIONS: Final = (
    click.option("-n", "--limit", type=int, metavar="N", help="At most this many results.  [default: 10]"),
    click.option("-C", "--context", type=click.IntRange(0, MAX_CONTEXT), metavar="N", default=0,
                 help="Show N lines around each result."),
    click.option("--full", is_flag=True, help="Show whole chunks."),
    click.option("-l", "--paths-only", is_flag=True, help="Show nothing but the paths."),
    click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object."),
    click.option("--jsonl", "as_lines", is_flag=True, help="Answer as JSON, one result a line."),
    click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour."),
)  # fmt: skip


neighbors_option = click.option("--neighbors", is_flag=True, help="Show each result whole with the chunks beside it.")


def format_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that say how many results there are and how they look."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


class Format(NamedTuple):
    """How an answer is written. `limit` 0 is the configured default."""

    limit: int
    context: int
    full: bool
    paths_only: bool
    as_json: bool
    as_lines: bool
    color: str
    quiet: bool
    explain: bool = False
    neighbors: bool = False

    @classmethod
    def load(cls, ctx: click.Context, limit: int | None, shown: Mapping[str, Any]) -> "Format":
        """From the values of `format_options`. Raises UsageError."""
        if limit is not None and limit < 1:
            raise UsageError(f"the limit is {limit}, it must be at least 1")
        if sum((shown["paths_only"], shown["as_json"], shown["as_lines"])) > 1:
            raise click.UsageError("`-l`, `--json` and `--jsonl` exclude each other", ctx)
        if shown["paths_only"] and shown.get("explain"):
            raise click.UsageError("`-l` and `--explain` exclude each other", ctx)
        if shown["context"] and shown.get("neighbors"):
            raise click.UsageError("`-C` and `--neighbors` exclude each other", ctx)
        return cls(limit=limit or 0, quiet=is_quiet(ctx), **shown)


def write_answer(workspace: Workspace, made: Answer, form: Format) -> ExitCode:
    """Print an answer; returns the exit code: 0 with hits, 1 without."""
    for note in [] if form.quiet else made.notes:
        say(f"note: {note}")
    told = _explanations(made, form)
    if form.as_json:
        write_json(answer_json(made, told))
    elif form.as_lines:
        for place, why in enumerate(told):
            write_json_line(hit_json(made, place, why))
    elif form.paths_only:
        for path in dict.fromkeys(named_hit(hit).path for hit, _ in made.hits):
            print(visible(path))
    elif made.hits:
        _write_hits(workspace, made, told, form, choose_style(form.color, os.environ))
    if not made.hits:
        say(_nothing_found(made))
    return ExitCode.OK if made.hits else ExitCode.NO_RESULTS


def _explanations(made: Answer, form: Format) -> "list[Explanation | None]":
    """Why each hit has its score, where that was asked for."""
    if not form.explain:
        return [None] * len(made.hits)
    from gitmem.search.explain import explain

    return [explain(hit.scores, hit.score, hit.chunk_type) for hit, _ in made.hits]


def _write_hits(
    workspace: Workspace, made: Answer, told: "list[Explanation | None]", form: Format, style: Style
) -> None:
    around: list[tuple[list[str], list[str]]] = [([], [])] * len(made.hits)
    if form.context:
        from gitmem.answering.context_lines import read_context

        around = read_context(workspace.location, [hit for hit, _ in made.hits], form.context, made.files)
    full = form.full or form.neighbors
    remarks = first_mentions(made.remarks)
    for place, ((hit, lines), outside, why) in enumerate(zip(made.hits, around, told, strict=True)):
        shown = format_hit(
            named_hit(hit), lines, made.terms, style, change=made.changes.get(hit.path, ""), full=full, around=outside,
            beside=made.adjacent[place], remarks=remarks[place],
        )  # fmt: skip
        print("\n".join([*shown, *(format_explanation(why, hit, style) if why else [])]))
    if not form.quiet:
        print(style.paint("dim", _describe(made)))


def _nothing_found(made: Answer) -> str:
    tree = _describe(made)
    if made.query.filters.any:
        return f"no results; the filters may be the cause ({tree})"
    return f"no results ({tree})"


def _describe(made: Answer) -> str:
    return f"{describe_view(made.view)}, {made.stats['query_time_ms']:.0f} ms"
