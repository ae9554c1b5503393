"""Pages of results: a search, and code like that at a location."""

from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup

from gitmem.answering.answer import Answer
from gitmem.answering.answer_json import (
    describe_absence,
    describe_currency,
    describe_view,
    first_mentions,
    json_path,
)
from gitmem.answering.federated_answer import FederatedAnswer
from gitmem.answering.hit_text import named_hit
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.search_query import MODES, SimilarQuery, check_query
from gitmem.chunking.languages import LANGUAGES
from gitmem.display import count
from gitmem.errors import GitmemError
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.revision_names import list_revision_names
from gitmem.memory.kinds import CODE, KINDS, kind_of
from gitmem.memory.record_paths import CONVERSATION_PREFIX
from gitmem.named_tuple import NamedTuple
from gitmem.records.code_notes import CodeNote
from gitmem.registry import read_registry
from gitmem.resident.call import Call
from gitmem.resident.open_tree import OpenTree
from gitmem.search.snippet import MAX_LINES, make_snippet
from gitmem.types import CHUNK_TYPES, PROSE_KINDS
from gitmem.web.api.searching import SEARCH_ARGUMENTS, find
from gitmem.web.errors import Problem, describe_error
from gitmem.web.page.highlight import highlight
from gitmem.web.page.templates import address
from gitmem.web.page.view import Page, Query, first, form_arguments
from gitmem.web.service import Service

_LINES: Final = 2 * MAX_LINES
"""Lines of a result: a page has more room than a terminal."""

_MAX_REVISIONS: Final = 100
_MAX_LISTED: Final = 8
"""Repositories whose branches and tags are offered: each costs a run of git."""

_SCHEMA: Final = {"type": "object", "properties": SEARCH_ARGUMENTS, "required": ["query"]}


class ShownLine(NamedTuple):
    """Line of a result; number 0 is a gap."""

    number: int
    html: Markup


class ShownHit(NamedTuple):
    """Result as the page shows it."""

    repository: str
    place: str
    symbol: str
    chunk_type: str
    language: str
    change: str
    percent: int
    link: str
    similar: str
    lines: list[ShownLine]
    notes: list[CodeNote]
    marks: list[str]
    """For a note: the notes that it replaces, and what makes it doubtful."""


def search_page(service: Service, query: Query, call: Call) -> Page:
    """Show the form, and the results if there is a query."""
    # The names alone, not the state of each repository, which takes a `git status` each.
    names = [one.name for one in read_registry(service.environment)]
    selection = [name for name in query.get("repository", ()) if name in names]
    values = {
        "repositories": names,
        "chosen": selection,
        "kinds": KINDS,
        "languages": sorted(LANGUAGES),
        "chunk_types": [name for name in CHUNK_TYPES if name not in PROSE_KINDS],
        "modes": MODES,
        "revisions": _revisions(service, selection or names),
        "given": {name: first(query, name) for name in SEARCH_ARGUMENTS},
        "given_kinds": list(query.get("kind", ())),
        "filters": _count_filters(query),
    }
    return Page("search", {**values, **results(service, query, call)})


def results_fragment(service: Service, query: Query, call: Call) -> Page:
    """Show the results alone: the script puts them into the page while the user types."""
    return Page("results", results(service, query, call))


def results(service: Service, query: Query, call: Call) -> dict[str, Any]:
    """Return the values of the results; a problem with the query is one of them."""
    empty: dict[str, Any] = {"hits": None, "summary": "", "notes": [], "problem": None, "keep": None}
    if not first(query, "query").strip():
        return empty
    try:
        arguments = form_arguments(_SCHEMA, query)
        # The page links each result to its file, and it shows only those of this machine.
        answer = find(service, arguments, call, allow_published=False)
    except (Problem, GitmemError) as error:
        return {**empty, "problem": describe_error(error)}
    hits = _show_all(answer, arguments["rev"])
    return {**empty, "hits": hits, "keep": _keepable(answer, query), **_describe(answer)}


def _keepable(answer: FederatedAnswer, query: Query) -> dict[str, Any] | None:
    """Return the fields of the form that keeps a search as a session: one of a single repository with results."""
    if len(answer.searched) != 1 or not answer.order:
        return None
    fields = [(name, value) for name in SEARCH_ARGUMENTS if name != "repository" for value in query.get(name, ())]
    return {"repository": answer.searched[0].name, "fields": [field for field in fields if field[1]]}


def _describe(answer: FederatedAnswer) -> dict[str, Any]:
    """Return the line above the results, and the notes."""
    searched = answer.searched
    places = searched[0].name if len(searched) == 1 else count(len(searched), "repository", "repositories")
    number = count(len(answer.order), "result") if answer.order else describe_absence(answer)
    notes = [f"{one.name}: {count(one.missing, 'file')} not indexed yet" for one in searched if one.missing]
    notes += [f"{one.name} was skipped: {one.reason}" for one in answer.skipped]
    milliseconds = f"{answer.stats['query_time_ms']:.0f} ms"
    return {"summary": f"{number} in {places}, {milliseconds}", "notes": [*notes, *answer.notes]}


def _show_all(answer: FederatedAnswer, rev: str) -> list[ShownHit]:
    mentions = {number: first_mentions(one.code_notes) for number, one in answer.answers.items()}
    return [
        show_hit(answer.answers[number], index, answer.searched[number].name, rev, mentions[number][index])
        for number, index in answer.order
    ]


def show_hit(answer: Answer, index: int, repository: str, rev: str, notes: list[CodeNote]) -> ShownHit:
    """Return a hit as the page shows it."""
    hit, lines = answer.hits[index]
    is_code = kind_of(hit.chunk_type) == CODE
    named = named_hit(hit)
    # All lines of the chunk are coloured, because a line alone may be inside a comment or a string.
    html = highlight(lines, hit.language if is_code else "markdown", answer.terms)
    snippet = make_snippet(lines, named.start_line, answer.terms, hit.symbol, _LINES)
    shown = [
        ShownLine(line.number, html[line.number - named.start_line]) if line.number else ShownLine(0, Markup(""))
        for line in snippet
    ]
    # The form with `#L` means a line for every path, also for one that looks like an object id.
    path = json_path(hit.path)
    similar = {"repository": repository, "location": f"{path}#L{hit.start_line}"}
    return ShownHit(
        repository=repository,
        place=f"{json_path(named.path)}:{named.start_line}-{named.end_line}",
        symbol=named.symbol,
        chunk_type=hit.chunk_type,
        language=hit.language if is_code else "",
        change=answer.changes.get(hit.path, ""),
        percent=round(100 * max(0.0, min(1.0, hit.score))),
        link=link_to(repository, rev, named.path, (named.start_line, named.end_line), is_code=is_code),
        similar=address("/similar", **similar) if is_code and not rev else "",
        lines=shown,
        notes=notes,
        marks=describe_currency(answer.records.get(hit.blob, {})),
    )


def link_to(repository: str, rev: str, path: str, lines: tuple[int, int], *, is_code: bool) -> str:
    """Return the address of a file at its lines, or of a record."""
    if is_code:
        query = {"repository": repository, "path": path, "rev": rev, "first": lines[0], "last": lines[1]}
        return address("/file", **query) + f"#L{lines[0]}"
    # A turn is shown in its conversation.
    name = path.rpartition(" ")[0] if path.startswith(CONVERSATION_PREFIX) else path
    return address("/record", repository=repository, id=name)


def similar_page(service: Service, query: Query, call: Call) -> Page:
    """Show code like that at a location of the working tree."""
    name, location = first(query, "repository"), first(query, "location")
    similar = SimilarQuery(location)

    def use(tree: OpenTree) -> Answer:
        limit = check_query(similar, WORKING_TREE, tree.workspace.settings)
        return mask_answer(tree.answer(similar, limit))

    answer = service.open(name).with_tree(WORKING_TREE, similar.filters.kinds, call, use)
    notes = first_mentions(answer.code_notes)
    hits = [show_hit(answer, index, name, "", notes[index]) for index in range(len(answer.hits))]
    summary = f"{count(len(hits), 'result')} in {name}: {describe_view(answer.view)}"
    values = {
        "location": location,
        "hits": hits,
        "summary": summary,
        "notes": answer.notes,
        "problem": None,
        "keep": None,
    }
    return Page("similar", {"repository": name, **values})


def _revisions(service: Service, names: Sequence[str]) -> list[str]:
    """Return branches and tags of the searched repositories to choose from."""
    found: dict[str, None] = {}
    for name in names[:_MAX_LISTED]:
        try:
            revisions = list_revision_names(service.workspace(name).location, _MAX_REVISIONS)
        except GitmemError:
            continue  # the search itself reports the problem
        found.update(dict.fromkeys([*revisions.branches, *revisions.tags]))
    return list(found)[:_MAX_REVISIONS]


def _count_filters(query: Query) -> int:
    names = ("rev", "kind", "language", "chunk_type", "path", "exclude", "min_score", "record_type")
    return sum(1 for name in names if first(query, name))
