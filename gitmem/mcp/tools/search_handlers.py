"""Handlers of the tools of toolset `search`: they read one repository and change nothing but its index."""

from collections.abc import Callable, Mapping
from typing import Final

from gitmem.answering.answer import answer_open
from gitmem.answering.filter_names import parse_chunk_types, parse_languages
from gitmem.answering.index_status import read_status
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.search_query import Query, SearchFilters, SimilarQuery, check_query
from gitmem.answering.usage_answer import DEFAULT_RELATIONS, UsageQuery, check_usage_query, usages_of
from gitmem.display import visible
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.get import read_from_git, read_from_index, read_without_tree
from gitmem.mcp.tools.json_output import answer_as_json, describe_status, dump, status_json
from gitmem.mcp.tools.record_excerpts import is_record_name
from gitmem.mcp.tools.text_output import render_answer
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.mcp.tools.usage_output import render_usages, usages_as_json
from gitmem.memory.kinds import parse_kinds
from gitmem.records.filters import RecordFilters, parse_filters
from gitmem.resident.open_repository import OpenRepository, OpenTree

GetRepository = Callable[[str], OpenRepository]
"""Returns the repository of a `root` argument. Called after the other arguments have been checked."""


def search(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Answer a query in words."""
    filters = SearchFilters(
        include=arguments["path"],
        exclude=arguments["exclude"],
        languages=parse_languages(arguments["language"]),
        chunk_types=parse_chunk_types(arguments["chunk_type"]),
        kinds=parse_kinds(arguments["kind"]),
        records=_record_filters(arguments["filters"]),
    )
    query = Query(
        arguments["query"],
        limit=arguments["limit"],
        mode=arguments["mode"],
        filters=filters,
        neighbors=arguments["neighbors"],
        min_score=arguments["min_score"] if arguments["min_score"] >= 0 else None,  # -1 stands for a missing number
    )
    return _answer(get_repository, query, TreeSelection(arguments["rev"]), arguments, call)


def related(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return code like that at a location of the working tree."""
    query = SimilarQuery(arguments["location"], arguments["limit"])
    return _answer(get_repository, query, WORKING_TREE, arguments, call)


def get(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return the text of locations and records. An index that is up to date finds symbols; none is waited for."""
    repository = get_repository(arguments["root"])
    if all(map(is_record_name, arguments["ids"])):  # records are not part of a tree, so none is opened
        return read_without_tree(repository.reopen(), arguments)
    selection = TreeSelection(arguments["rev"])
    answer = repository.with_current_tree(selection, call, lambda tree: read_from_index(tree, arguments))
    if answer is not None:
        return answer
    call.check()
    return read_from_git(repository.reopen(), selection, arguments, call.notes)


def status(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Describe the state of the index."""
    state = read_status(get_repository(arguments["root"]).reopen())
    call.check()
    if arguments["format"] == "json":
        return dump(status_json(state))
    return "\n".join([describe_status(state), *(f"note: {visible(note)}" for note in call.notes)])


def usages(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return the usages of a name or place."""
    query = UsageQuery(
        arguments["name"], arguments["relation"] or DEFAULT_RELATIONS, arguments["depth"], arguments["limit"]
    )
    check_usage_query(query)

    def use(tree: OpenTree) -> str:
        answer = usages_of(tree.searcher, query, tree.reader, check=call.check)
        if answer.view.stale:
            tree.mark_stale()
        answer.notes[:0] = tree.notes
        return usages_as_json(answer) if arguments["format"] == "json" else render_usages(answer)

    return get_repository(arguments["root"]).with_tree(TreeSelection(arguments["rev"]), (), call, use)


HANDLERS: Final[Mapping[str, Callable[[GetRepository, Arguments, ToolCall], str]]] = {
    "search": search,
    "related": related,
    "usages": usages,
    "get": get,
    "status": status,
}
"""Handlers by the name of the tool."""


def _answer(
    get_repository: GetRepository,
    query: Query | SimilarQuery,
    selection: TreeSelection,
    arguments: Arguments,
    call: ToolCall,
) -> str:
    def use(tree: OpenTree) -> str:
        limit = check_query(query, selection, tree.workspace.settings)
        answer = mask_answer(answer_open(tree.searcher, query, limit, tree.reader))
        if answer.view.stale:
            tree.mark_stale()
        if arguments["format"] == "json":
            return dump(answer_as_json(answer, arguments["detail"], tree.notes))
        return render_answer(answer, arguments["detail"], tree.notes)

    return get_repository(arguments["root"]).with_tree(selection, query.filters.kinds, call, use)


def _record_filters(filters: Arguments) -> RecordFilters:
    """Convert the argument `filters`. Raises UsageError."""
    return parse_filters(
        type_=filters["type"],
        source=filters["source"],
        sensitivity=filters["sensitivity"],
        visibility=filters["visibility"],
        conversation=filters["conversation"],
        since=filters["since"],
        until=filters["until"],
        min_confidence=filters["min_confidence"],
    )
