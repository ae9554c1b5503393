"""Output of `gitmem query --history`: definitions of the past, each with the interval in which it lived."""

from typing import Final

import click

from gitmem.answering.past_hit import PastHit
from gitmem.answering.past_json import describe_past, hit_json, life_lines, no_past, past_json
from gitmem.answering.past_search import PastAnswer, PastQuery, search_past
from gitmem.answering.search_query import Query
from gitmem.cli import console
from gitmem.cli.answer_output import Format
from gitmem.cli.context import page_output, write_json, write_json_line
from gitmem.cli.error_output import say
from gitmem.cli.filter_options import PastOptions
from gitmem.cli.hit_output import format_hit
from gitmem.cli.invocation import current_invocation
from gitmem.cli.shown_secrets import shown_text, shown_value, shows_secrets
from gitmem.cli.style import Style, choose_style
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.workspace import Workspace

_CURRENT_ONLY: Final = (
    ("rev", "rev"), ("staged", "staged"), ("changed", "changed"), ("kinds", "kind"), ("repositories", "repo"),
    ("everything", "all"), ("recurse", "recurse-submodules"), ("neighbors", "neighbors"), ("explain", "explain"),
    ("context", "context"),
)  # fmt: skip
"""Options that select or show something of one tree, by the names of their parameters."""


def check_options(ctx: click.Context) -> None:
    """Raise UsageError for an option that does not apply to the past."""
    for parameter, option in _CURRENT_ONLY:
        if ctx.params.get(parameter):
            raise UsageError(f"`--history` and `--{option}` exclude each other", hint=f"leave out `--{option}`")


def query_past(workspace: Workspace, query: Query, past: PastOptions, form: Format) -> ExitCode:
    """Search the code of the past and print the answer; return OK with results and NO_RESULTS without."""
    page_output(current_invocation())
    asked = PastQuery(query, past.introduced, past.removed, past.newest)
    answer = search_past(workspace, asked, mask=not shows_secrets())
    for note in [] if form.quiet else answer.notes:
        say(f"note: {note}")
    if form.as_json:
        write_json(shown_value(past_json(answer)))
    elif form.as_lines:
        for found in answer.hits:
            write_json_line(shown_value(hit_json(found)))
    elif form.paths_only:
        for path in dict.fromkeys(found.hit.path for found in answer.hits):
            console.put(visible(path))
    else:
        _write(answer, form, choose_style(form.color, console.environment()))
    if not answer.hits:
        say(f"{no_past(answer)} ({describe_past(answer)})")
        if answer.rejected and not form.quiet:
            say("hint: to see them: --min-score 0")
    return ExitCode.OK if answer.hits else ExitCode.NO_RESULTS


def _write(answer: PastAnswer, form: Format, style: Style) -> None:
    for number, found in enumerate(answer.hits):
        separator = [""] if number and style.width else []
        console.put("\n".join([*separator, *_lines(answer, found, form, style)]))
    if answer.hits and not form.quiet:
        console.put(style.paint("dim", f"{describe_past(answer)}, {answer.milliseconds:.0f} ms"))


def _lines(answer: PastAnswer, found: PastHit, form: Format, style: Style) -> list[str]:
    life = [shown_text(line) for line in life_lines(found)]
    return format_hit(found.hit, found.lines, answer.terms, style, full=form.full, currency=life)
