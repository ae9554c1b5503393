"""Answers to queries, as text or JSON. Needs no click."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.answering.answer import Answer, answer
from gitmem.answering.answer_json import (
    answer_json,
    describe_absence,
    describe_author,
    describe_currency,
    describe_view,
    first_mentions,
    hit_json,
)
from gitmem.answering.hit_text import named_hit
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.search_query import Query, SimilarQuery
from gitmem.answering.sessions import save_session
from gitmem.cli import console
from gitmem.cli.context import page_output, write_json, write_json_line
from gitmem.cli.error_output import say
from gitmem.cli.hit_output import format_explanation, format_hit, format_legend
from gitmem.cli.invocation import current_invocation
from gitmem.cli.server_start import start_user_server
from gitmem.cli.shown_secrets import shows_secrets
from gitmem.cli.style import Style, choose_style
from gitmem.display import visible
from gitmem.errors import ExitCode
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.records.code_notes import CodeNote
    from gitmem.search.explain import Explanation
    from gitmem.search.hits import Hit


class Format(NamedTuple):
    """Output format of an answer. `limit` 0 means the configured default."""

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
    blame: bool = False

    @property
    def has_details(self) -> bool:
        """Whether the answer is for a program, which gets all fields."""
        return self.as_json or self.as_lines


def answer_here(
    workspace: Workspace, query: Query | SimilarQuery, selection: TreeSelection = WORKING_TREE, *, refresh: bool = True
) -> Answer:
    """Answer a query, for a client of this process from the trees that it holds open. Raises: as `answer`."""
    client = console.client_console()
    if client is not None:
        return client.answers.answer(query, selection, refresh=refresh)
    return answer(workspace, query, selection, refresh=refresh)


def write_answer(workspace: Workspace, answer: Answer, form: Format) -> ExitCode:
    """Print an answer and keep its search as a session; return OK with hits and NO_RESULTS without."""
    page_output(current_invocation())
    start_user_server(workspace.settings)
    if not shows_secrets():
        answer = mask_answer(answer)
    answer = save_session(workspace, answer)
    for note in [] if form.quiet else answer.notes:
        say(f"note: {note}")
    mode = answer.query.mode if isinstance(answer.query, Query) else "semantic"
    explanations = explain_hits([hit for hit, _ in answer.hits], mode, form)
    if form.as_json:
        write_json(answer_json(answer, explanations))
    elif form.as_lines:
        for index, explanation in enumerate(explanations):
            write_json_line(hit_json(answer, index, explanation))
    elif form.paths_only:
        for path in dict.fromkeys(named_hit(hit).path for hit, _ in answer.hits):
            console.put(visible(path))
    elif answer.hits:
        _write_hits(workspace, answer, explanations, form, choose_style(form.color, console.environment()))
    if not answer.hits:
        say(f"{describe_absence(answer)} ({_describe(answer)})")
        if answer.rejected is not None and not form.quiet:
            say("hint: to see them: --min-score 0")
    return ExitCode.OK if answer.hits else ExitCode.NO_RESULTS


def explain_hits(hits: "Sequence[Hit]", mode: str, form: Format) -> "list[Explanation | None]":
    """Return the explanation of each hit's score, or None for each without `--explain`."""
    if not form.explain:
        return [None] * len(hits)
    from gitmem.search.explain import explain  # few searches are explained

    return [explain(hit.scores, hit.score, hit.chunk_type, mode) for hit in hits]


def _write_hits(
    workspace: Workspace, answer: Answer, explanations: "list[Explanation | None]", form: Format, style: Style
) -> None:
    contexts: list[tuple[list[str], list[str]]] = [([], [])] * len(answer.hits)
    if form.context:
        from gitmem.answering.context_lines import read_context

        contexts = read_context(
            workspace.location, [hit for hit, _ in answer.hits], form.context, answer.files, mask=not shows_secrets()
        )
    code_notes = first_mentions(answer.code_notes)
    for index, (context, explanation) in enumerate(zip(contexts, explanations, strict=True)):
        output = hit_lines(answer, index, form, style, context, code_notes[index])
        put_hit(index, answer.hits[index][0], output, explanation, style)
    put_end(_describe(answer), explanations, form, style)


def hit_lines(
    answer: Answer,
    index: int,
    form: Format,
    style: Style,
    context: tuple[list[str], list[str]],
    code_notes: "Sequence[CodeNote]",
    repository: str = "",
) -> list[str]:
    """Return the lines that show a hit; its location begins with the name of a repository if one is given."""
    hit, lines = answer.hits[index]
    named = named_hit(hit)
    return format_hit(
        named._replace(path=f"{repository}:{named.path}") if repository else named,
        lines,
        answer.terms,
        style,
        change=answer.changes.get(hit.path, "") or describe_author(answer, hit),
        full=form.full or form.neighbors,
        context=context,
        adjacent=answer.adjacent[index],
        code_notes=code_notes,
        blame=answer.blames[index] if answer.blames else None,
        currency=describe_currency(answer.records.get(hit.blob, {})),
    )


def put_hit(number: int, hit: "Hit", output: list[str], explanation: "Explanation | None", style: Style) -> None:
    """Print the lines of a hit and the explanation of its score."""
    # People see at once where a result begins; a program would pay for the empty lines.
    separator = [""] if number and style.width else []
    reasons = format_explanation(explanation, hit, style) if explanation else []
    console.put("\n".join([*separator, *output, *reasons]))


def put_end(description: str, explanations: "Sequence[Explanation | None]", form: Format, style: Style) -> None:
    """Print the legend of the explanations, if there are any, and what was searched."""
    if form.quiet:
        return
    if form.explain:
        from gitmem.search.explain import LEGEND  # few searches are explained

        console.put("\n".join(format_legend(filter(None, explanations), LEGEND, style)))
    console.put(style.paint("dim", description))


def _describe(answer: Answer) -> str:
    return f"{describe_view(answer.view)}, {answer.stats['query_time_ms']:.0f} ms"
