"""Handlers of the tools of toolset `search`: they read repositories and change nothing but their index."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gitmem.actions.health import EMBEDDING, Component, examine_health, health_json, health_lines
from gitmem.actions.published_reading import read_from_server
from gitmem.actions.repository_excerpts import read_repositories
from gitmem.actions.template_excerpts import read_templates
from gitmem.answering.filter_names import parse_chunk_types, parse_languages
from gitmem.answering.index_status import read_status
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.readings import NameOptions, Reading, needs_no_tree, read_from_git, read_without_tree
from gitmem.answering.repository_ids import REPOSITORY, TEMPLATE, is_published, parse_ids
from gitmem.answering.search_query import Query, SearchFilters, SimilarQuery, check_query
from gitmem.answering.searched_trees import SearchedRepositories
from gitmem.answering.sessions import save_session
from gitmem.answering.usage_answer import (
    DEFAULT_RELATIONS,
    UsageAnswer,
    UsageQuery,
    check_usage_query,
    usages_in,
    usages_of,
)
from gitmem.display import visible
from gitmem.errors import GitmemError, NotARepository
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.get import name_options, read_from_index, render_readings
from gitmem.mcp.tools.json_output import answer_as_json, describe_status, dump, status_json
from gitmem.mcp.tools.served_repositories import ServedRepositories
from gitmem.mcp.tools.text_output import FULL, render_answer
from gitmem.mcp.tools.tool_call import BLAME_SECONDS, ToolCall
from gitmem.mcp.tools.usage_output import render_usages, usages_as_json
from gitmem.memory.kinds import parse_kinds
from gitmem.records.filters import RecordFilters, parse_filters
from gitmem.registry import read_registry
from gitmem.resident.names_answer import finish_answer
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.open_tree import OpenTree
from gitmem.settings import Settings
from gitmem.workspace import Workspace


def search(repositories: ServedRepositories, arguments: Arguments, call: ToolCall) -> str:
    """Answer a query in words."""
    filters = SearchFilters(
        include=arguments["path"],
        exclude=arguments["exclude"],
        languages=parse_languages(arguments["language"]),
        chunk_types=parse_chunk_types(arguments["chunk_type"]),
        kinds=parse_kinds(arguments["kind"]),
        records=_record_filters(arguments["filters"]),
        files=arguments["files"],
        folders=arguments["folders"],
    )
    query = Query(
        arguments["query"],
        limit=arguments["limit"],
        mode=arguments["mode"],
        filters=filters,
        neighbors=arguments["neighbors"],
        min_score=arguments["min_score"] if arguments["min_score"] >= 0 else None,  # -1 stands for a missing number
        details=arguments["format"] == "json" and arguments["detail"] == FULL,
        blame=BLAME_SECONDS if arguments["detail"] == FULL else 0.0,
    )
    selection = TreeSelection(arguments["rev"])
    if arguments["repositories"]:
        from gitmem.mcp.tools.federated_handler import search_repositories

        return search_repositories(repositories.table, repositories.get, query, selection, arguments, call)
    return _answer(repositories, query, selection, arguments, call)


def related(repositories: ServedRepositories, arguments: Arguments, call: ToolCall) -> str:
    """Return code like that at a location of the working tree."""
    query = SimilarQuery(arguments["location"], arguments["limit"])
    return _answer(repositories, query, WORKING_TREE, arguments, call)


def get(repositories: ServedRepositories, arguments: Arguments, call: ToolCall) -> str:
    """Return the text of locations and records. An index that is up to date finds symbols; none is waited for."""
    known = {entry.name for entry in read_registry(repositories.table.environment)}
    ids = parse_ids(arguments["ids"], known)
    by_repository: dict[str, list[str]] = {}
    for repository, name in ids:
        by_repository.setdefault(repository, []).append(name)
    options = name_options(arguments)._replace(repositories=known)
    readings = [_read(repositories, one, names, arguments, options, call) for one, names in by_repository.items()]
    return render_readings(readings, ids, arguments)


def _read(
    repositories: ServedRepositories, name: str, ids: Sequence[str], arguments: Arguments, options: NameOptions,
    call: ToolCall,
) -> Reading:  # fmt: skip
    """Read some ids of a repository; of the call's own one if `name` is "", whose errors end the call."""
    if name == REPOSITORY:
        return Reading(read_repositories(ids, repositories.table.environment), "", (), name)
    if name == TEMPLATE:
        return Reading(read_templates(repositories.get(arguments["root"]).current_workspace(), ids), "", (), name)
    if is_published(name):
        settings = _settings_in_force(repositories, arguments)
        return read_from_server(settings.org, name, ids, options)
    try:
        if not name:
            return _read_ids(repositories.get(arguments["root"]), ids, options, call)
        # Behind the name of a repository there is no other one.
        return _read_ids(repositories.get(name), ids, options._replace(repositories=None), call).in_repository(name)
    except GitmemError as error:
        if not name:
            raise
        return Reading(dict.fromkeys(ids, error), "", (), name)


def _settings_in_force(repositories: ServedRepositories, arguments: Arguments) -> Settings:
    """Return the settings of the call's repository; outside of one, those of the user."""
    try:
        return repositories.get(arguments["root"]).current_workspace().settings
    except NotARepository:
        return repositories.table.user_settings.read()


def _read_ids(repository: OpenRepository, ids: Sequence[str], options: NameOptions, call: ToolCall) -> Reading:
    if all(map(needs_no_tree, ids)):
        return read_without_tree(repository.reopen(), ids, options)
    selection = TreeSelection(options.rev)
    reading = repository.with_current_tree(selection, call, lambda tree: read_from_index(tree, ids, options))
    if reading is not None:
        return reading
    call.check()
    return read_from_git(repository.reopen(), selection, ids, options, call.notes)


def status(repositories: ServedRepositories, arguments: Arguments, call: ToolCall) -> str:
    """Describe the state of the index, and on request that of its components."""
    workspace = repositories.get(arguments["root"]).reopen()
    sections = arguments["sections"] or ["index"]
    state = read_status(workspace) if "index" in sections else None
    components = _examine(workspace, sections, probe=arguments["probe"])
    call.check()
    if arguments["format"] == "json":
        health = {"health": health_json(components)} if components else {}
        return dump((status_json(state) if state else {}) | health)
    lines = [describe_status(state)] if state else []
    lines += map(visible, health_lines(components) if components else ())
    return "\n".join([*lines, *(f"note: {visible(note)}" for note in call.notes)])


def _examine(workspace: Workspace, sections: Sequence[str], *, probe: bool) -> list[Component]:
    """Return the components that some sections of a status show."""
    if not {"health", EMBEDDING}.intersection(sections):
        return []
    return examine_health(workspace, probe=probe, embedding_only="health" not in sections)


def usages(repositories: ServedRepositories, arguments: Arguments, call: ToolCall) -> str:
    """Return the usages of a name or place."""
    query = UsageQuery(
        arguments["name"], arguments["relation"] or DEFAULT_RELATIONS, arguments["depth"], arguments["limit"]
    )
    check_usage_query(query)

    selection = TreeSelection(arguments["rev"])
    as_json = arguments["format"] == "json"
    if arguments["repositories"]:
        from gitmem.answering.joined_trees import JoinedTrees, TreesQuery  # most calls look in one repository
        from gitmem.mcp.tools.joined_call import answer_repositories, own_workspace

        def use_all(trees: JoinedTrees) -> UsageAnswer[SearchedRepositories]:
            return usages_in(trees, query, check=call.check)

        own, trees = own_workspace(repositories, arguments), TreesQuery(arguments["repositories"], selection)
        joint = answer_repositories(repositories, own, trees, call, use_all)
        return usages_as_json(joint) if as_json else render_usages(joint)

    def use(tree: OpenTree) -> str:
        answer = finish_answer(tree, usages_of(tree.searcher, query, tree.reader, check=call.check))
        return usages_as_json(answer) if as_json else render_usages(answer)

    return repositories.get(arguments["root"]).with_tree(selection, (), call, use)


HANDLERS: Final[Mapping[str, Callable[[ServedRepositories, Arguments, ToolCall], str]]] = {
    "search": search,
    "related": related,
    "usages": usages,
    "get": get,
    "status": status,
}
"""Handlers by the name of the tool."""


def _answer(
    repositories: ServedRepositories,
    query: Query | SimilarQuery,
    selection: TreeSelection,
    arguments: Arguments,
    call: ToolCall,
) -> str:
    started = time.perf_counter()

    def use(tree: OpenTree) -> str:
        limit = check_query(query, selection, tree.workspace.settings)
        answer = save_session(tree.workspace, mask_answer(tree.answer(query, limit)))
        # Includes the check of the tree, as for a command.
        answer.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
        if answer.view.stale:
            tree.mark_stale()
        if arguments["format"] == "json":
            return dump(answer_as_json(answer, arguments["detail"], tree.notes))
        return render_answer(answer, arguments["detail"], tree.notes)

    return repositories.get(arguments["root"]).with_tree(selection, query.filters.kinds, call, use)


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
        author=filters["author"],
    )
