"""`gitmem memory suggest`: notes that the messages of commits suggest."""

from collections.abc import Sequence
from typing import Final

import click

from gitmem.cli.completer import complete
from gitmem.cli.confirmation import is_interactive
from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.record_output import format_similar_note
from gitmem.cli.shown_secrets import shown_text, shown_value
from gitmem.cli.text_input import json_option, limit_option, print_each, print_notices
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.records.notes import AddedNote
from gitmem.records.record_json import note_json
from gitmem.records.suggested_notes import (
    SuggestedNote,
    accept_suggestion,
    accept_suggestions,
    find_suggestions,
    skip_suggestions,
    suggest_notes,
    suggestion_json,
)
from gitmem.workspace import Workspace

_QUIT: Final = ("q", "\x03", "\x04", "\x1b")


@click.command("suggest")
@click.argument("revisions", metavar="[RANGE]", shell_complete=complete("ranges"), default="")
@click.option("--accept", "accepted", metavar="ID", multiple=True, help="Store this suggestion as a note; repeatable.")
@click.option("--skip", "skipped", metavar="ID", multiple=True, help="Do not suggest this again; repeatable.")
@limit_option
@json_option
@click.pass_context
def suggest(
    ctx: click.Context, revisions: str, accepted: tuple[str, ...], skipped: tuple[str, ...], limit: int, as_json: bool
) -> ExitCode:
    """Suggest notes from the messages of commits: reasons, decisions, rules, warnings, and reverts with their reason.

    RANGE is A..B, or a revision whose newest 500 commits are read; by default HEAD. Merged pull requests count, and so
    do the notes of `git notes`. Bots, releases and merges without a text do not. No model is used, and nothing is
    stored until you accept it. Accepted and skipped suggestions, and those of commits that a note names, are left out.

    On a terminal one key decides about each: `a` accepts it, `e` edits it first, `s` skips it for good, `q` quits, any
    other key leaves it.

    \b
    Examples:
      gitmem memory suggest
      gitmem memory suggest -n 50 v1.2..HEAD
      gitmem memory suggest --accept 0123456789ab --skip 89abcdef0123:2
    """
    workspace = open_here(ctx.obj)
    if accepted or skipped:
        _decide(ctx, workspace, accepted, skipped, as_json=as_json)
        return ExitCode.OK
    suggestions = suggest_notes(workspace, revisions, limit)
    if as_json or not is_interactive():
        print_each(suggestions, as_json, suggestion_json, format_suggestion)
    else:
        _ask(ctx, workspace, suggestions)
    if not suggestions and not as_json and not ctx.obj.quiet:
        say("these commits suggest no note")
    return ExitCode.OK


def format_suggestion(suggestion: SuggestedNote) -> str:
    """Format a suggestion as lines: id, type and paths, then the whole text that would be stored."""
    heading = "  ".join([suggestion.id, suggestion.statement.type, *map(visible, suggestion.paths)])
    return f"{heading}\n    {visible(suggestion.content)}"


def _decide(
    ctx: click.Context, workspace: Workspace, accepted: Sequence[str], skipped: Sequence[str], *, as_json: bool
) -> None:
    """Accept and skip suggestions by their ids; none if one of the ids is wrong."""
    chosen, passed = find_suggestions(workspace, accepted), find_suggestions(workspace, skipped)
    added = accept_suggestions(workspace, chosen)
    skip_suggestions(workspace, passed)
    print_notices(ctx, (notice for each in added for notice in each.notices))
    if as_json:
        ids = [suggestion.id for suggestion in passed]
        write_json(shown_value({"accepted": [note_json(each.note) for each in added], "skipped": ids}))
        return
    for each in added:
        _print_added(each)
    for suggestion in passed:
        print(f"skipped {suggestion.id}")


def _ask(ctx: click.Context, workspace: Workspace, suggestions: Sequence[SuggestedNote]) -> None:
    """Show each suggestion, wait for a key, and do what it says."""
    for suggestion in suggestions:
        print(shown_text(format_suggestion(suggestion)))
        click.echo("    [a]ccept, [e]dit, [s]kip, [q]uit, any other key: later", err=True)
        key = click.getchar().lower()
        if key in _QUIT:
            return
        if key == "s":
            skip_suggestions(workspace, [suggestion])
        content = click.edit(suggestion.content, extension=".md") if key == "e" else suggestion.content
        if key not in "ae" or content is None:  # the editor was left without saving
            continue
        try:
            added = accept_suggestion(workspace, suggestion, content.strip("\n"))
        except UsageError as refused:  # a secret, or a text that is empty or too long: the others can still be stored
            say(f"note: {refused}")
            continue
        print_notices(ctx, added.notices)
        _print_added(added)


def _print_added(added: AddedNote) -> None:
    print(f"stored {added.note.id}")
    for similar in added.similar:
        print(shown_text(format_similar_note(similar)))
