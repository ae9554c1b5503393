"""What the adapters of all older systems share: the repositories of a call, the forms of answers, the searches."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.actions.repository_rows import RepositoryRow, read_row
from gitmem.answering.answer import Answer
from gitmem.answering.federated_answer import FederatedAnswer, mask_federated
from gitmem.answering.masked_answer import mask_answer
from gitmem.answering.repository_selection import ALL, choose_members, choose_repositories
from gitmem.answering.search_query import Query, check_query
from gitmem.errors import GitmemError, NotARepository
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.tool_answer import ToolAnswer
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.named_tuple import NamedTuple
from gitmem.registry import KnownRepository
from gitmem.resident.open_federation import answer_open_repositories
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.open_tree import OpenTree
from gitmem.resident.repositories import OpenRepositories
from gitmem.secrets.masking import mask_text
from gitmem.settings import Settings
from gitmem.workspace import Workspace


class Served(NamedTuple):
    """What one call may use: the repository of a root, all repositories that are open, and the call itself."""

    get: Callable[[str], OpenRepository]
    table: OpenRepositories
    call: ToolCall

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment of the server."""
        return self.table.environment

    @property
    def workspace(self) -> Workspace:
        """Repository of the server in its present state. Raises: NotARepository, ConfigError."""
        return self.get("").reopen()


Handler = Callable[[Served, Arguments], ToolAnswer]
Fail = Callable[[str, GitmemError], ToolAnswer]
"""Returns the form of an error of a tool, by the tool's name."""


class Adapter(NamedTuple):
    """Handlers of one system by the names of its tools, and the form of its errors."""

    handlers: Mapping[str, Handler]
    fail: Fail


def text_answer(text: str) -> ToolAnswer:
    """Return an answer in words."""
    return ToolAnswer(text)


def json_answer(value: Mapping[str, Any]) -> ToolAnswer:
    """Return an answer as JSON, in the text and as structured content."""
    return ToolAnswer(json.dumps(value, separators=(",", ":")), value)


def error_text(error: GitmemError) -> str:
    """Return the message of an error without secrets; the hint names commands of gitmem, which the old form lacks."""
    return mask_text(error.message)


def search_own(served: Served, query: Query) -> Answer:
    """Search the server's own repository. Raises: as `with_tree`."""

    def use(tree: OpenTree) -> Answer:
        limit = check_query(query, WORKING_TREE, tree.workspace.settings)
        answer = mask_answer(tree.answer(query, limit))
        if answer.view.stale:
            tree.mark_stale()
        return answer

    return served.get("").with_tree(WORKING_TREE, query.filters.kinds, served.call, use)


def search_named(served: Served, query: Query, names: Sequence[str]) -> FederatedAnswer:
    """Search registered repositories, `*` for all of them and the server's own. Raises: UsageError."""
    own = _find_own(served)
    chosen = choose_members(served.environment, names, own, allow_folders=False)
    settings = own.settings if own else Settings()
    return mask_federated(answer_open_repositories(served.table, chosen, query, WORKING_TREE, settings, served.call))


def read_served_rows(served: Served) -> list[RepositoryRow]:
    """Return the present state of the repositories that a search of all searches."""
    chosen = choose_repositories(served.environment, [ALL], _find_own(served), allow_folders=False)
    return [read_row(KnownRepository(one.name, one.folder), served.environment) for one in chosen]


def _find_own(served: Served) -> Workspace | None:
    """Return the server's own repository. A server outside a repository serves the registered ones."""
    try:
        return served.get("").current_workspace()
    except NotARepository:
        return None
