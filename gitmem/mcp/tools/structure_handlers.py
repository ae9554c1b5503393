"""Handlers of the tools of toolset `structure`: they read how the definitions of a tree depend on each other."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitmem.answering.answer import ViewState
from gitmem.answering.impact_answer import (
    ImpactAnswer,
    ImpactedDefinition,
    ImpactQuery,
    check_impact_query,
    compare_commits,
    impact_of,
    newer_tree,
)
from gitmem.answering.impact_json import definition_line, describe_caller, describe_impact, impact_json, no_impact
from gitmem.answering.joined_impact import impact_joined, start_impact
from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
from gitmem.answering.map_answer import MapAnswer, MapQuery, check_map_query, map_in, map_of
from gitmem.answering.map_json import describe_map, file_label, file_lines, map_json, no_map
from gitmem.answering.searched_trees import SearchedRepositories, State
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.joined_call import answer_repositories, own_workspace
from gitmem.mcp.tools.json_output import dump, fit_values
from gitmem.mcp.tools.served_repositories import ServedRepositories
from gitmem.mcp.tools.text_output import Block
from gitmem.mcp.tools.token_estimate import estimate_tokens
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.mcp.tools.usage_output import place_line, render_names
from gitmem.resident.names_answer import finish_answer
from gitmem.resident.open_tree import OpenTree
from gitmem.secrets.masking import mask_text, mask_value


def map_tree(repositories: ServedRepositories, arguments: Arguments, call: ToolCall) -> str:
    """Return an outline of a tree or of several repositories, within a budget of tokens."""
    query = MapQuery(arguments["query"], arguments["path"], arguments["tokens"])
    check_map_query(query)
    selection, as_json = TreeSelection(arguments["rev"]), arguments["format"] == "json"
    if arguments["repositories"]:

        def use_all(trees: JoinedTrees) -> MapAnswer[SearchedRepositories]:
            return map_in(trees, query, estimate_tokens, check=call.check)

        own, trees = own_workspace(repositories, arguments), TreesQuery(arguments["repositories"], selection)
        joint = answer_repositories(repositories, own, trees, call, use_all)
        return _map_as_json(joint) if as_json else _render_map(joint)

    def use(tree: OpenTree) -> str:
        answer = finish_answer(tree, map_of(tree.searcher, query, estimate_tokens, tree.reader, check=call.check))
        return _map_as_json(answer) if as_json else _render_map(answer)

    return repositories.get(arguments["root"]).with_tree(selection, (), call, use)


def _render_map(answer: MapAnswer[State]) -> str:
    blocks = [Block(file_label(file), file_lines(file)) for file in answer.files]
    return render_names(answer, blocks, no_map(answer), describe_map(answer), "ask for fewer tokens")


def _map_as_json(answer: MapAnswer[State]) -> str:
    """Return an outline as JSON; `omitted` is the number of files that do not fit into one message."""
    value = map_json(answer)
    files, omitted = fit_values(value["files"])
    return dump({**value, "files": files, "omitted": omitted})


def impact(repositories: ServedRepositories, arguments: Arguments, call: ToolCall) -> str:
    """Return the callers that a range of commits or uncommitted changes touch, in other repositories too."""
    query = ImpactQuery(arguments["range"], arguments["depth"], arguments["limit"], arguments["staged"])
    check_impact_query(query)
    repository, as_json = repositories.get(arguments["root"]), arguments["format"] == "json"
    if arguments["repositories"]:
        own = repository.reopen()
        start = start_impact(own, query, arguments["repositories"], call.check)

        def use_all(trees: JoinedTrees) -> ImpactAnswer[SearchedRepositories]:
            return impact_joined(trees, start.comparison, query, check=call.check)

        joint = answer_repositories(repositories, own, start.trees, call, use_all)
        return _impact_as_json(joint) if as_json else _render_impact(joint)
    comparison = compare_commits(repository.reopen(), query, call.check)

    def use(tree: OpenTree) -> str:
        answer: ImpactAnswer[ViewState] = finish_answer(
            tree, impact_of(tree.searcher, comparison, query, tree.reader, check=call.check)
        )
        return _impact_as_json(answer) if as_json else _render_impact(answer)

    return repository.with_tree(newer_tree(query, comparison), (), call, use)


def _render_impact(answer: ImpactAnswer[State]) -> str:
    blocks = [_impact_block(each) for each in answer.definitions]
    advice = "ask for a shorter range, or a lower limit"
    return render_names(answer, blocks, no_impact(answer), describe_impact(answer), advice)


def _impact_block(impacted: ImpactedDefinition) -> Block:
    remarks = [describe_caller(impacted, place, changed=changed) for place, changed in impacted.callers]
    callers = [f"  {place_line(place, remark)}" for (place, _), remark in zip(impacted.callers, remarks, strict=True)]
    return Block(mask_text(definition_line(impacted)), callers)


def _impact_as_json(answer: ImpactAnswer[State]) -> str:
    """Return callers as JSON; `omitted` also counts the definitions that do not fit into one message."""
    value: dict[str, Any] = mask_value(impact_json(answer))
    definitions, more = fit_values(value["definitions"])
    return dump({**value, "definitions": definitions, "omitted": answer.omitted + more})


HANDLERS: Final[Mapping[str, Callable[[ServedRepositories, Arguments, ToolCall], str]]] = {
    "map": map_tree,
    "impact": impact,
}
"""Handlers by the name of the tool."""
