"""Operations that read code and records: search, text of files and records, related code, usages, history."""

from typing import Any, Final

from gitmem.answering.answer_json import answer_json
from gitmem.answering.element_history import read_element_history
from gitmem.answering.federated_answer import FederatedAnswer, mask_federated
from gitmem.answering.federated_json import federated_json
from gitmem.answering.filter_names import parse_chunk_types, parse_languages
from gitmem.answering.history_json import history_json
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.range_changes import changes_json, read_range_changes
from gitmem.answering.readings import (
    NameOptions,
    Reading,
    collect,
    describe_trees,
    needs_no_tree,
    read_from_git,
    read_without_tree,
)
from gitmem.answering.repository_ids import RepositoryId, is_published
from gitmem.answering.repository_selection import ALL, choose_members
from gitmem.answering.search_query import MAX_FILES, MAX_FOLDERS, MAX_QUERY, MODES, Query, SearchFilters, SimilarQuery
from gitmem.answering.search_query import check_query as check_bounds
from gitmem.answering.usage_answer import (
    DEFAULT_LIMIT,
    DEFAULT_RELATIONS,
    MAX_LIMIT,
    UsageQuery,
    check_usage_query,
    usages_of,
)
from gitmem.answering.usage_json import usages_json
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.git.revisions import resolve
from gitmem.mcp.tools.get import read_from_index
from gitmem.memory.conversation import GET_DEFAULT, MAX_GET
from gitmem.memory.kinds import CHOICES, parse_kinds
from gitmem.records.filters import parse_filters
from gitmem.registry import read_registry
from gitmem.resident.call import Call
from gitmem.resident.names_answer import finish_answer
from gitmem.resident.open_federation import answer_open_repositories
from gitmem.resident.open_tree import OpenTree
from gitmem.secrets.masking import mask_value
from gitmem.settings import SEARCH_MAX_LIMIT
from gitmem.types import MAX_USAGE_DEPTH
from gitmem.web.api.operation import (
    BOOLEAN,
    COUNT,
    INTEGER,
    NUMBER,
    TEXT,
    Arguments,
    Operation,
    array,
    choice,
    nullable,
    number,
    record,
    text,
    texts,
)
from gitmem.web.errors import Problem, unknown_repository
from gitmem.web.service import Service

_MAX_IDS: Final = 100
_ONE: Final = "/repositories/{repository}"


def search(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Answer a query from some repositories, or from all."""
    answer = find(service, arguments, call)
    terms = list(dict.fromkeys(term for of_member in answer.answers.values() for term in of_member.terms))
    return {**federated_json(answer, [None] * len(answer.order)), "terms": terms}


def find(service: Service, arguments: Arguments, call: Call, *, allow_published: bool = True) -> FederatedAnswer:
    """Answer a query; secrets in the hits are masked. With `allow_published` repositories on the server have names too.

    Raises: Problem, GitmemError, CallCancelled.
    """
    query = query_of(arguments)
    names = arguments["repository"] or (ALL,)
    # Only names of the registry are accepted: a folder in a request would open any repository of the machine.
    registered = {one.name for one in read_registry(service.environment)}
    local = [name for name in names if name != ALL and not (allow_published and is_published(name))]
    unknown = next((name for name in local if name not in registered), None)
    if unknown is not None and is_published(unknown):
        hint = f"gitmem query --repo {unknown} TEXT"
        raise UsageError(f"`{unknown}` is on the server of an organisation, which the page does not search", hint=hint)
    if unknown is not None:
        raise unknown_repository(unknown)
    members = choose_members(service.environment, names, None, allow_folders=False)
    if not any(members):
        raise Problem(409, "no_index", "no repository is registered", hint="run `gitmem init` in a repository")
    selection = TreeSelection(arguments["rev"])
    if arguments["rev"] and len(members.local) == 1 and not members.published:
        # Several repositories may lack a revision; of one alone the user learns which revisions are similar.
        resolve(service.workspace(members.local[0].name).location, arguments["rev"])
    settings = service.settings([one.name for one in members.local])
    answer = answer_open_repositories(service.repositories, members, query, selection, settings, call)
    return mask_federated(answer)


def query_of(arguments: Arguments) -> Query:
    """Return the query of the arguments of a search. Raises: UsageError."""
    return Query(
        arguments["query"],
        limit=max(0, arguments["limit"]),
        mode=arguments["mode"],
        filters=_filters(arguments),
        neighbors=arguments["neighbors"],
        min_score=arguments["min_score"] if arguments["min_score"] >= 0 else None,
    )


def _filters(arguments: Arguments) -> SearchFilters:
    """Convert the filters of a search. Raises: UsageError."""
    return SearchFilters(
        include=arguments["path"],
        exclude=arguments["exclude"],
        languages=parse_languages(arguments["language"]),
        chunk_types=parse_chunk_types(arguments["chunk_type"]),
        kinds=parse_kinds(arguments["kind"]),
        records=parse_filters(
            type_=arguments["record_type"], since=arguments["since"], until=arguments["until"]
        ),
        files=arguments["file"],
        folders=arguments["folder"],
    )  # fmt: skip


def read_items(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return the text of locations and records."""
    reading = read(service, arguments, call)
    excerpts, failures = collect([reading], [RepositoryId("", name) for name in arguments["id"]])
    tree, notes = describe_trees([reading])
    items = [{**excerpt.fields, "content": excerpt.content} for excerpt in excerpts]
    return {"items": items, "tree": tree, "notes": [*notes, *(failure.message for failure in failures)]}


def read(service: Service, arguments: Arguments, call: Call) -> Reading:
    """Read locations and records by their ids, from the index if it is current, else from git."""
    repository, ids = service.open(arguments["repository"]), arguments["id"]
    options = NameOptions(arguments["rev"], max(0, arguments["limit"]))
    if all(map(needs_no_tree, ids)):
        return read_without_tree(repository.reopen(), ids, options)
    selection = TreeSelection(arguments["rev"])
    # An open tree reads symbols and chunks from its index; git alone reads everything else as fast.
    reading = repository.with_current_tree(selection, call, lambda tree: read_from_index(tree, ids, options))
    if reading is not None:
        return reading
    call.check()
    return read_from_git(repository.reopen(), selection, ids, options, call.notes)


def related(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return code like that at a location of the working tree."""
    query = SimilarQuery(arguments["location"], max(0, arguments["limit"]))

    def use(tree: OpenTree) -> dict[str, Any]:
        limit = check_bounds(query, WORKING_TREE, tree.workspace.settings)
        answer = mask_answer(tree.answer(query, limit))
        if answer.view.stale:  # a file changed while it was read: the next call looks again
            tree.mark_stale()
        return answer_json(answer, [None] * len(answer.hits))

    return service.open(arguments["repository"]).with_tree(WORKING_TREE, query.filters.kinds, call, use)


def usages(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return who defines, calls, extends, imports or mentions a name."""
    query = usage_query(arguments)

    def use(tree: OpenTree) -> dict[str, Any]:
        return usages_json(finish_answer(tree, usages_of(tree.searcher, query, tree.reader, check=call.check)))

    return service.open(arguments["repository"]).with_tree(TreeSelection(arguments["rev"]), (), call, use)


def usage_query(arguments: Arguments) -> UsageQuery:
    """Return the query of the arguments, checked. Raises: UsageError."""
    relations = arguments["relation"] or DEFAULT_RELATIONS
    query = UsageQuery(arguments["name"], relations, arguments["depth"], arguments["limit"])
    check_usage_query(query)
    return query


def when(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return the history of the element at a location."""
    workspace = service.workspace(arguments["repository"])
    history = read_element_history(workspace, arguments["location"], arguments["rev"], check=call.check)
    value: dict[str, Any] = mask_value(history_json(history))
    return value


def changes(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return the definitions that differ between two revisions."""
    workspace = service.workspace(arguments["repository"])
    value: dict[str, Any] = mask_value(
        changes_json(read_range_changes(workspace, arguments["range"], arguments["query"], call.check))
    )
    return value


REV: Final = text("Commit, tag or branch; empty is the working tree.")
_LIMIT: Final = {
    "type": "integer", "minimum": 1, "maximum": SEARCH_MAX_LIMIT.maximum, "description": "Number of results.",
}  # fmt: skip
_VIEW: Final = record(rev=TEXT, commit=nullable(TEXT), stale={"type": "boolean"}, source=TEXT, uncommitted=COUNT)
_HIT: Final = record(
    id=TEXT, kind=TEXT, path=TEXT, start_line=INTEGER, end_line=INTEGER, chunk_type=TEXT, symbol=TEXT, language=TEXT,
    score=NUMBER, content=TEXT, content_hash=TEXT, blob=TEXT, uncommitted=nullable(TEXT),
    notes=array(record(id=TEXT, type=TEXT, time=TEXT, text=TEXT)),
)  # fmt: skip
SEARCHED: Final = record(
    name=TEXT, path=nullable(TEXT), commit=nullable(TEXT), tree=TEXT, stale={"type": "boolean"}, files_missing=COUNT
)
PLACE: Final = record(path=TEXT, line=INTEGER, kind=TEXT, symbol=TEXT, text=TEXT)
_NOTES: Final = array(TEXT)

SEARCH_ARGUMENTS: Final = {
    "query": text("Words or symbols.", most=MAX_QUERY, least=1),
    "repository": texts("Names of repositories, or `org:NAME` on the server; none means all of this machine."),
    "rev": text("Commit, tag, branch or `at:DATE` to search; empty is the working tree."),
    "kind": texts(f"Kinds to search: {', '.join(CHOICES)}.", most=10),
    "language": texts("Languages."),
    "chunk_type": texts("Types of chunks, for example `function`."),
    "path": texts("Globs that the path must match."),
    "exclude": texts("Globs that the path must not match."),
    "file": texts("Whole paths.", most=MAX_FILES),
    "folder": texts("Folders.", most=MAX_FOLDERS),
    "record_type": texts("Types of records, for example `decision`."),
    "since": text("Earliest time of a record."),
    "until": text("Latest time of a record."),
    "mode": choice("How text and query are compared.", MODES, "hybrid"),
    "min_score": {"type": "number", "minimum": 0, "maximum": 1, "description": "Least score of a result."},
    "neighbors": {**BOOLEAN, "description": "Add the chunks before and after each result."},
    "limit": _LIMIT,
}
"""Arguments of a search, for the page as well."""

OPERATIONS: Final = (
    Operation(
        "GET", "/search", "search", "Search one, several or all repositories.", search,
        record(query=TEXT, terms=array(TEXT), results=array({**_HIT, "properties": {
            **_HIT["properties"], "repository": TEXT}}), repositories_searched=array(SEARCHED),
            repositories_skipped=array(record(name=TEXT, reason=TEXT)), stats={"type": "object"}),
        query=SEARCH_ARGUMENTS, required=("query",),
    ),
    Operation(
        "GET", f"{_ONE}/items", "readItems", "Read files, lines, symbols, chunks and records.", read_items,
        record(items=array(record(kind=TEXT, content=TEXT)), tree=TEXT, notes=_NOTES),
        query={
            "id": {**texts("Locations and ids of records, as searches return them.", most=_MAX_IDS), "minItems": 1},
            "rev": REV,
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MAX_GET,
                "description": f"Number of turns ({GET_DEFAULT}), or of results of a search session (5).",
            },
        },
        required=("id",),
    ),
    Operation(
        "GET", f"{_ONE}/related", "related", "Find code like that at a location of the working tree.", related,
        record(query=TEXT, results=array(_HIT), view=_VIEW, stats={"type": "object"}),
        query={"location": text("Path with a line or symbol.", least=1), "limit": _LIMIT}, required=("location",),
    ),
    Operation(
        "GET", f"{_ONE}/usages", "usages", "Show who defines, calls, extends, imports or mentions a name.", usages,
        record(query=TEXT, name=TEXT, symbols=array(TEXT), view=_VIEW, stats={"type": "object"},
               relations={"type": "object", "additionalProperties": record(total=COUNT, places=array(PLACE))}),
        query={
            "name": text("Name or location.", most=500, least=1),
            "relation": texts("Relations; none means the usual ones.", most=20),
            "depth": number("Steps from the definition.", 1, MAX_USAGE_DEPTH, 1),
            "limit": number("Number of places of each relation.", 1, MAX_LIMIT, DEFAULT_LIMIT),
            "rev": REV,
        },
        required=("name",),
    ),
    Operation(
        "GET", f"{_ONE}/history", "history", "Show every commit that changed a function or class.", when,
        record(rev=TEXT, commit=TEXT, path=TEXT, symbol=TEXT, start_line=INTEGER, end_line=INTEGER,
               changes=array(record(commit=TEXT, author=TEXT, date=TEXT, subject=TEXT, kinds=array(TEXT))),
               notes=_NOTES),
        query={"location": text("Path with a line or symbol.", least=1), "rev": REV}, required=("location",),
    ),
    Operation(
        "GET", f"{_ONE}/changes", "changes", "List the definitions that differ between two revisions.", changes,
        record(changes=array({"type": "object"}), notes=_NOTES),
        query={"range": text("Two revisions: `A..B`.", least=1), "query": text("Words to rank the changes by.")},
        required=("range",),
    ),
)  # fmt: skip
"""Operations of this module."""
