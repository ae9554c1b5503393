"""Handler of `search` over several repositories: those that the user has registered, and the server's own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gitmem.answering.answer_json import describe_absence, first_mentions
from gitmem.answering.federated_answer import FederatedAnswer, mask_federated
from gitmem.answering.federated_json import federated_json
from gitmem.answering.repository_selection import choose_members, describe_skipped
from gitmem.answering.search_query import Query
from gitmem.display import count
from gitmem.errors import NotARepository
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.json_output import dump, fit_results
from gitmem.mcp.tools.text_output import Block, render_blocks, render_hit
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.resident.open_federation import answer_open_repositories
from gitmem.resident.repositories import OpenRepositories

if TYPE_CHECKING:
    from gitmem.resident.open_repository import OpenRepository


def search_repositories(
    repositories: OpenRepositories,
    get: "Callable[[str], OpenRepository]",
    query: Query,
    selection: TreeSelection,
    arguments: Arguments,
    call: ToolCall,
) -> str:
    """Answer a query from the repositories of the argument. Raises: as `answer_open_repositories`."""
    try:
        own = get(arguments["root"]).current_workspace()
    except NotARepository:
        own = None  # a server outside a repository can search the registered ones
    chosen = choose_members(repositories.environment, arguments["repositories"], own, allow_folders=False)
    settings = own.settings if own else repositories.user_settings.read()
    answer = mask_federated(answer_open_repositories(repositories, chosen, query, selection, settings, call))
    if arguments["format"] == "json":
        value = federated_json(answer, [None] * len(answer.order))
        return dump(fit_results(value, arguments["detail"]))
    return _render(answer, arguments["detail"])


def _render(answer: FederatedAnswer, detail: str) -> str:
    notes = [f"skipped {line}" for line in describe_skipped(answer.skipped)]
    notes += [f"{one.name}: {count(one.missing, 'file')} not indexed yet" for one in answer.searched if one.missing]
    notes += answer.notes
    if not answer.order:
        notes.insert(0, describe_absence(answer))
    tree = count(len(answer.searched), "repository", "repositories")
    if answer.skipped:
        tree += f", {len(answer.skipped)} skipped"
    return render_blocks(_blocks(answer, detail), tree, notes, "ask for fewer results or less detail")


def _blocks(answer: FederatedAnswer, detail: str) -> list[Block]:
    code_notes = {number: first_mentions(of_member.code_notes) for number, of_member in answer.answers.items()}
    return [
        render_hit(
            answer.answers[number],
            index,
            detail,
            code_notes[number][index],
            rank=rank,
            repository=answer.searched[number].name,
        )
        for rank, (number, index) in enumerate(answer.order)
    ]
