"""Handlers of the tools of toolset `structure`: they read how the definitions of a tree depend on each other."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitmem.answering.answer_json import describe_view
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
from gitmem.answering.map_answer import MapAnswer, MapQuery, check_map_query, map_of
from gitmem.answering.map_json import describe_map, file_lines, map_json, no_map
from gitmem.answering.usage_answer import Place
from gitmem.display import visible, visible_code
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.json_output import dump, fit_values
from gitmem.mcp.tools.search_handlers import GetRepository
from gitmem.mcp.tools.text_output import Block, render_blocks
from gitmem.mcp.tools.token_estimate import estimate_tokens
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.resident.open_tree import OpenTree
from gitmem.secrets.masking import mask_text, mask_value

_COLUMNS = 160
"""Columns of a shown line of code."""


def map_tree(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return an outline of a tree, within a budget of tokens."""
    query = MapQuery(arguments["query"], arguments["path"], arguments["tokens"])
    check_map_query(query)

    def use(tree: OpenTree) -> str:
        answer = map_of(tree.searcher, query, estimate_tokens, tree.reader, check=call.check)
        if answer.view.stale:
            tree.mark_stale()
        answer.notes[:0] = tree.notes
        return _map_as_json(answer) if arguments["format"] == "json" else _render_map(answer)

    return get_repository(arguments["root"]).with_tree(TreeSelection(arguments["rev"]), (), call, use)


def _render_map(answer: MapAnswer) -> str:
    blocks = [Block(visible(file.path), file_lines(file)) for file in answer.files]
    notes = list(answer.notes)
    if not blocks:
        notes.insert(0, no_map(answer))
    state = f"{describe_map(answer)}, {describe_view(answer.view)}"
    return render_blocks(blocks, state, notes, "ask for fewer tokens")


def _map_as_json(answer: MapAnswer) -> str:
    """Return an outline as JSON; `omitted` is the number of files that do not fit into one message."""
    value = map_json(answer)
    files, omitted = fit_values(value["files"])
    return dump({**value, "files": files, "omitted": omitted})


def impact(get_repository: GetRepository, arguments: Arguments, call: ToolCall) -> str:
    """Return the callers that a range of commits or uncommitted changes touch."""
    query = ImpactQuery(arguments["range"], arguments["depth"], arguments["limit"], arguments["staged"])
    check_impact_query(query)
    repository = get_repository(arguments["root"])
    comparison = compare_commits(repository.reopen(), query, call.check)

    def use(tree: OpenTree) -> str:
        answer = impact_of(tree.searcher, comparison, query, tree.reader, check=call.check)
        if answer.view.stale:
            tree.mark_stale()
        answer.notes[:0] = tree.notes
        return _impact_as_json(answer) if arguments["format"] == "json" else _render_impact(answer)

    return repository.with_tree(newer_tree(query, comparison), (), call, use)


def _render_impact(answer: ImpactAnswer) -> str:
    blocks = [_impact_block(each) for each in answer.definitions]
    notes = list(answer.notes)
    if not blocks:
        notes.insert(0, no_impact(answer))
    state = f"{describe_impact(answer)}, {describe_view(answer.view)}"
    return render_blocks(blocks, mask_text(state), notes, "ask for a shorter range, or a lower limit")


def _impact_block(impacted: ImpactedDefinition) -> Block:
    lines = [_caller_line(impacted, place, changed=changed) for place, changed in impacted.callers]
    return Block(mask_text(definition_line(impacted)), lines)


def _caller_line(impacted: ImpactedDefinition, place: Place, *, changed: bool) -> str:
    described = describe_caller(impacted, place, changed=changed)
    symbol = f" {visible(place.symbol)}" if place.symbol else ""
    remark = f" ({visible(described)})" if described else ""
    return f"  {visible(place.path)}:{place.line}{symbol}: {visible_code(place.text[:_COLUMNS])}{remark}"


def _impact_as_json(answer: ImpactAnswer) -> str:
    """Return callers as JSON; `omitted` also counts the definitions that do not fit into one message."""
    value: dict[str, Any] = mask_value(impact_json(answer))
    definitions, more = fit_values(value["definitions"])
    return dump({**value, "definitions": definitions, "omitted": answer.omitted + more})


HANDLERS: Final[Mapping[str, Callable[[GetRepository, Arguments, ToolCall], str]]] = {
    "map": map_tree,
    "impact": impact,
}
"""Handlers by the name of the tool."""
