"""Answer one query from several repositories, those on the server of the organisation among them if some are named."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gitmem.answering.federated_query import require_searched
from gitmem.answering.repository_selection import ChosenMembers
from gitmem.answering.search_query import Query
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.settings import Settings

if TYPE_CHECKING:
    from gitmem.answering.federated_answer import FederatedAnswer


def answer_chosen(
    chosen: ChosenMembers,
    query: Query,
    selection: TreeSelection,
    settings: Settings,
    answer_local: "Callable[[], FederatedAnswer]",
) -> "FederatedAnswer":
    """Answer from all members of a search; `answer_local` answers from those of this machine.

    Raises: UsageError, NoIndex or UnknownRevision if none can be searched, and as `answer_local`.
    """
    if not chosen.published:
        return require_searched(answer_local())
    from gitmem.org.mixed_search import search_together  # nothing else loads the client of the database

    return search_together(chosen, query, selection, settings, answer_local)
