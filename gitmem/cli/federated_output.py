"""Run a query over several repositories and print its answer."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.answering.answer_json import describe_absence, first_mentions
from gitmem.answering.context_lines import read_context
from gitmem.answering.federated_json import federated_hit_json, federated_json
from gitmem.answering.federated_query import answer_repositories
from gitmem.answering.hit_text import named_hit
from gitmem.answering.repository_ids import PUBLISHED
from gitmem.answering.repository_selection import choose_members
from gitmem.answering.search_query import Query
from gitmem.answering.searched_trees import SearchedRepositories
from gitmem.answering.trees_json import describe_trees, tree_notes
from gitmem.cli import console
from gitmem.cli.answer_output import Format, explain_hits, hit_lines, put_end, put_hit
from gitmem.cli.context import page_output, write_json, write_json_line
from gitmem.cli.error_output import say
from gitmem.cli.invocation import current_invocation
from gitmem.cli.server_start import start_user_server
from gitmem.cli.shown_secrets import shows_secrets
from gitmem.cli.style import Style, choose_style
from gitmem.display import visible
from gitmem.errors import ExitCode, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.locate import locate
from gitmem.resident.federated_call import answer_chosen
from gitmem.workspace import Workspace, read_user_settings

if TYPE_CHECKING:
    from gitmem.answering.federated_answer import FederatedAnswer
    from gitmem.search.explain import Explanation

_Contexts = list[tuple[list[str], list[str]]]


def query_repositories(
    own: Workspace | None, names: Sequence[str], query: Query, selection: TreeSelection, form: Format, *, refresh: bool
) -> ExitCode:
    """Answer a query from some repositories and print the answer. Raises: as `answer_chosen`."""
    client = console.client_console()
    settings = own.settings if own else read_user_settings(os.environ)
    if client is not None:
        answer = client.answers.answer_repositories(names, query, selection, refresh=refresh)
    else:
        chosen = choose_members(os.environ, names, own)
        if chosen.published and form.context:
            hint = f"use `--full`, or leave out the names that begin with `{PUBLISHED}`"
            raise UsageError("`-C` needs the files of the repository", hint=hint)

        def answer_local() -> "FederatedAnswer":
            return answer_repositories(own, chosen.local, query, selection, os.environ, refresh=refresh)

        answer = answer_chosen(chosen, query, selection, settings, answer_local)
    page_output(current_invocation())
    start_user_server(settings)
    return _print_answer(answer, form)


def write_federated(answer: "FederatedAnswer", form: Format) -> ExitCode:
    """Print an answer that comes from elsewhere, and return the exit code."""
    page_output(current_invocation())
    return _print_answer(answer, form)


def _print_answer(answer: "FederatedAnswer", form: Format) -> ExitCode:
    if not shows_secrets():
        from gitmem.answering.federated_answer import mask_federated

        answer = mask_federated(answer)
    if not form.quiet:
        for note in tree_notes(SearchedRepositories(answer.searched, answer.skipped), answer.notes):
            say(f"note: {note}")
    _write(answer, form)
    if not answer.order:
        say(f"{describe_absence(answer)} ({_describe(answer)})")
        if answer.rejected is not None and not form.quiet:
            say("hint: to see them: --min-score 0")
    return ExitCode.OK if answer.order else ExitCode.NO_RESULTS


def _write(answer: "FederatedAnswer", form: Format) -> None:
    hits = [answer.answers[number].hits[index][0] for number, index in answer.order]
    explanations = explain_hits(hits, answer.query.mode, form)
    # Each line names its repository, because equal paths occur in several.
    names = [answer.searched[number].name for number, _ in answer.order]
    if form.as_json:
        write_json(federated_json(answer, explanations))
    elif form.as_lines:
        for rank, explanation in enumerate(explanations):
            write_json_line(federated_hit_json(answer, rank, explanation))
    elif form.paths_only:
        paths = (f"{name}:{named_hit(hit).path}" for name, hit in zip(names, hits, strict=True))
        for path in dict.fromkeys(paths):
            console.put(visible(path))
    elif hits:
        _write_hits(answer, explanations, form, choose_style(form.color, console.environment()))


def _write_hits(
    answer: "FederatedAnswer", explanations: "Sequence[Explanation | None]", form: Format, style: Style
) -> None:
    contexts = {number: _read_context(answer, number, form) for number in answer.answers}
    code_notes = {number: first_mentions(of_member.code_notes) for number, of_member in answer.answers.items()}
    for rank, (number, index) in enumerate(answer.order):
        of_member = answer.answers[number]
        output = hit_lines(
            of_member,
            index,
            form,
            style,
            contexts[number][index],
            code_notes[number][index],
            answer.searched[number].name,
        )
        put_hit(rank, of_member.hits[index][0], output, explanations[rank], style)
    put_end(_describe(answer), explanations, form, style)


def _read_context(answer: "FederatedAnswer", number: int, form: Format) -> _Contexts:
    hits = [hit for hit, _ in answer.answers[number].hits]
    if not form.context:
        return [([], [])] * len(hits)
    folder = answer.searched[number].folder
    if folder is None:
        return [([], [])] * len(hits)
    location = locate(folder)
    return read_context(location, hits, form.context, answer.answers[number].files, mask=not shows_secrets())


def _describe(answer: "FederatedAnswer") -> str:
    trees = SearchedRepositories(answer.searched, answer.skipped)
    return f"{describe_trees(trees)}, {answer.stats['query_time_ms']:.0f} ms"
