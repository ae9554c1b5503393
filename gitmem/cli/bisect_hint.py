"""`gitmem bisect-hint`."""

from datetime import datetime
from typing import Final

import click

from gitmem.answering.bisect_hint import read_bisect_hint
from gitmem.answering.range_suspects import Suspect
from gitmem.answering.suspects_json import chunk_lines, describe_hint, hint_json
from gitmem.cli import console
from gitmem.cli.completer import complete
from gitmem.cli.context import open_here, page_output, write_json
from gitmem.cli.error_output import say
from gitmem.cli.progress import ProgressLine
from gitmem.cli.shown_secrets import shown_text, shown_value
from gitmem.cli.style import CHOICES, Style, choose_style
from gitmem.cli.text_input import json_option, read_content, show_secrets_option
from gitmem.display import format_score, visible
from gitmem.errors import ExitCode

_SHORT: Final = 9


@click.command()
@click.argument("symptom", metavar="TEXT")
@click.argument("revisions", metavar="[GOOD..BAD]", default="", shell_complete=complete("ranges"))
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), metavar="N", default=10, show_default=True, help="Commits to show."
)
@click.option("--color", type=click.Choice(CHOICES), default="auto", help="When to use colour.")
@json_option
@show_secrets_option
@click.pass_context
def command(ctx: click.Context, symptom: str, revisions: str, limit: int, color: str, as_json: bool) -> ExitCode:
    """Rank the commits of a range by how likely they introduced a fault.

    TEXT describes the symptom: a sentence, an error message, or a whole issue (`-` reads it from standard input). Each
    commit is judged by the lines that it changed, by its message, and by whether it changed the results of a search for
    the text at either end. The first ones are worth testing before `git bisect` halves the range. Merges are left out.

    Without GOOD..BAD the range is that of the running `git bisect`, else the last 500 commits of HEAD's main line. A
    range of more than 5,000 commits is ranked from its newest ones. Both ends are indexed first, if they are not yet.

    \b
    Examples:
      gitmem bisect-hint "login fails after a redirect" v1.2..HEAD
      gitmem bisect-hint "KeyError: 'session'"     # during git bisect
      gitmem bisect-hint - v1.2..HEAD < issue.txt
    """
    if _is_range(symptom) and revisions and not _is_range(revisions):
        symptom, revisions = revisions, symptom  # the order of `gitmem changes`
    text = read_content(symptom)
    with ProgressLine("reading the range", quiet=ctx.obj.quiet or as_json, unit="step") as progress:
        hint = read_bisect_hint(open_here(ctx.obj), text, revisions, report=progress.step)
    if as_json:
        write_json(shown_value(hint_json(hint, limit)))
        return ExitCode.OK
    page_output(ctx.obj)
    style = choose_style(color, console.environment())
    console.put(shown_text(describe_hint(hint)))
    for suspect in hint.suspects[:limit]:
        for line in _format_suspect(suspect, style):
            console.put(shown_text(line))
    for note in hint.notes:
        say(f"note: {note}")
    return ExitCode.OK


def _is_range(text: str) -> bool:
    return ".." in text and not any(character.isspace() for character in text)


def _format_suspect(suspect: Suspect, style: Style) -> list[str]:
    commit = suspect.commit
    date = datetime.fromisoformat(commit.date).date().isoformat()
    author = style.paint("dim", f"({visible(commit.author)})")
    name = style.paint("match", commit.commit[:_SHORT])
    head = f"{name} {date}  {format_score(suspect.score)}  {visible(commit.subject)}  {author}"
    return [head, *(style.paint("dim", f"{'':22}{line}") for line in chunk_lines(suspect))]
