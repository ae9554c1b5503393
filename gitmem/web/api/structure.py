"""Operations about the names in several repositories that import each other: usages, outline, callers of changes."""

from collections.abc import Callable
from typing import Any, Final

from gitmem.answering.impact_answer import DEFAULT_LIMIT as DEFAULT_CALLERS
from gitmem.answering.impact_answer import ImpactAnswer, ImpactQuery
from gitmem.answering.impact_json import impact_json
from gitmem.answering.joined_impact import impact_joined, start_impact
from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
from gitmem.answering.map_answer import (
    DEFAULT_TOKENS,
    MAX_TOKENS,
    MIN_TOKENS,
    MapAnswer,
    MapQuery,
    check_map_query,
    map_in,
)
from gitmem.answering.map_json import map_json
from gitmem.answering.repository_selection import ALL
from gitmem.answering.search_query import MAX_QUERY
from gitmem.answering.searched_trees import OfRepositories, SearchedRepositories
from gitmem.answering.usage_answer import DEFAULT_LIMIT, MAX_LIMIT, UsageAnswer, usages_in
from gitmem.answering.usage_json import usages_json
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.mcp.tools.token_estimate import estimate_tokens
from gitmem.resident.call import Call
from gitmem.resident.open_federation import answer_joined
from gitmem.secrets.masking import mask_value
from gitmem.types import MAX_USAGE_DEPTH
from gitmem.web.api.operation import (
    BOOLEAN,
    COUNT,
    NUMBER,
    TEXT,
    Arguments,
    Operation,
    array,
    number,
    record,
    text,
    texts,
)
from gitmem.web.api.searching import PLACE, REV, SEARCHED, usage_query
from gitmem.web.service import Service


def usages(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return who uses a name in some repositories, or in all."""
    query = usage_query(arguments)

    def use(trees: JoinedTrees) -> UsageAnswer[SearchedRepositories]:
        return usages_in(trees, query, check=call.check)

    return usages_json(_answer(service, _trees(service, arguments), call, use))


def map_repositories(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return the outline of some repositories, or of all."""
    query = MapQuery(arguments["query"], arguments["path"], arguments["tokens"])
    check_map_query(query)

    def use(trees: JoinedTrees) -> MapAnswer[SearchedRepositories]:
        return map_in(trees, query, estimate_tokens, check=call.check)

    return map_json(_answer(service, _trees(service, arguments), call, use))


def impact(service: Service, arguments: Arguments, call: Call) -> dict[str, Any]:
    """Return the callers that changes of a repository touch, there and in others."""
    query = ImpactQuery(arguments["range"], arguments["depth"], arguments["limit"], arguments["staged"])
    own = service.workspace(arguments["repository"])
    start = start_impact(own, query, _registered(service, arguments["other"]), call.check)

    def use(trees: JoinedTrees) -> ImpactAnswer[SearchedRepositories]:
        return impact_joined(trees, start.comparison, query, check=call.check)

    chosen = start.trees.choose(service.environment, own, allow_folders=False)
    value: dict[str, Any] = mask_value(impact_json(answer_joined(service.repositories, chosen, start.trees, call, use)))
    return value


def _trees(service: Service, arguments: Arguments) -> TreesQuery:
    names = _registered(service, arguments["repository"]) or [ALL]
    return TreesQuery(names, TreeSelection(arguments["rev"]))


def _registered(service: Service, names: list[str]) -> list[str]:
    """Return names of repositories. Raises: Problem for one that is not registered."""
    for name in names:
        if name != ALL:
            service.known(name)
    return names


def _answer(
    service: Service, trees: TreesQuery, call: Call, use: Callable[[JoinedTrees], OfRepositories]
) -> OfRepositories:
    chosen = trees.choose(service.environment, None, allow_folders=False)
    return answer_joined(service.repositories, chosen, trees, call, use)


_STATE: Final = {
    "repositories_searched": array(SEARCHED),
    "repositories_skipped": array(record(name=TEXT, reason=TEXT)),
    "stats": {"type": "object"},
}
_NAMES: Final = texts("Names of repositories; none means all of this machine.")

OPERATIONS: Final = (
    Operation(
        "GET", "/usages", "usagesOfRepositories", "Show who uses a name in repositories that import each other.",
        usages,
        record(query=TEXT, name=TEXT, symbols=array(TEXT), **_STATE,
               relations={"type": "object", "additionalProperties": record(total=COUNT, places=array(PLACE))}),
        query={
            "name": text("Name or location, perhaps behind the name of its repository and a colon.", most=500, least=1),
            "repository": _NAMES,
            "relation": texts("Relations; none means the usual ones.", most=20),
            "depth": number("Steps from the definition.", 1, MAX_USAGE_DEPTH, 1),
            "limit": number("Number of places of each relation.", 1, MAX_LIMIT, DEFAULT_LIMIT),
            "rev": REV,
        },
        required=("name",),
    ),
    Operation(
        "GET", "/map", "map", "Outline one, several or all repositories by their most important definitions.",
        map_repositories,
        record(path=TEXT, query=TEXT, tokens=COUNT, files_total=COUNT, **_STATE,
               files=array(record(repository=TEXT, path=TEXT, importance=NUMBER,
                                  definitions=array({"type": "object"})))),
        query={
            "repository": _NAMES,
            "query": text("Words to personalise by.", most=MAX_QUERY),
            "path": text("File or folder behind the name of its repository and a colon; empty is all."),
            "tokens": number("Tokens of the outline.", MIN_TOKENS, MAX_TOKENS, DEFAULT_TOKENS),
            "rev": REV,
        },
    ),
    Operation(
        "GET", "/repositories/{repository}/impact", "impact",
        "List the callers that uncommitted files or a range of commits touch, in other repositories too.", impact,
        record(since=TEXT, until=TEXT, definitions=array({"type": "object"}), without_callers=COUNT, omitted=COUNT,
               **_STATE),
        query={
            "range": text("Two revisions: `A..B`; empty compares HEAD with the working tree.", most=1000),
            "staged": {**BOOLEAN, "description": "Compare the staged files with HEAD."},
            "other": texts("Names of other repositories to look in, or `*` for all."),
            "depth": number("Steps from the definition.", 1, MAX_USAGE_DEPTH, 1),
            "limit": number("Number of callers of each definition.", 1, MAX_LIMIT, DEFAULT_CALLERS),
        },
    ),
)  # fmt: skip
"""Operations of this module."""
