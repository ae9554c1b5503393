"""Answer a call about names from several repositories: those that the user has registered, and the server's own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gitmem.answering.joined_trees import JoinedTrees, TreesQuery
from gitmem.answering.searched_trees import OfRepositories
from gitmem.errors import NotARepository
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.served_repositories import ServedRepositories
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.resident.open_federation import answer_joined

if TYPE_CHECKING:
    from gitmem.workspace import Workspace


def own_workspace(repositories: ServedRepositories, arguments: Arguments) -> "Workspace | None":
    """Return the repository of a call; None outside of one, where a server can search the registered ones."""
    try:
        return repositories.get(arguments["root"]).current_workspace()
    except NotARepository:
        return None


def answer_repositories(
    repositories: ServedRepositories,
    own: "Workspace | None",
    query: TreesQuery,
    call: ToolCall,
    use: Callable[[JoinedTrees], OfRepositories],
) -> OfRepositories:
    """Return an answer from the trees of some repositories. Raises: as `joined_trees.read_joined`, CallCancelled."""
    chosen = query.choose(repositories.table.environment, own, allow_folders=False)
    return answer_joined(repositories.table, chosen, query, call, use)
