"""Open the repositories of a search, each while `git status` of the next ones runs. Imports numpy and the search."""

from collections.abc import Iterable

from gitmem.answering.answer import rebuild_damaged
from gitmem.answering.federated_answer import skip_repository
from gitmem.answering.federated_search import Member
from gitmem.answering.repository_selection import SelectTree, SkippedRepository, StartedRepository, describe_problem
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.embedding import bundled
from gitmem.embedding.encoder import Encoder
from gitmem.errors import DamagedFile, GitmemError
from gitmem.freshness.tree_selection import TreeSelection


def open_members(
    pending: Iterable[StartedRepository], kinds: tuple[str, ...], selection_of: SelectTree, *, refresh: bool
) -> tuple[list[Member], list[SkippedRepository]]:
    """Open the repositories that can be searched, and explain why the others cannot."""
    encoder = bundled.BundledEncoder()
    members: list[Member] = []
    skipped: list[SkippedRepository] = []
    for one in pending:
        try:
            searcher = _open(one, kinds, selection_of(one.chosen), encoder, refresh=refresh and one.chosen.is_own)
            members.append(Member(one.chosen.name, searcher, one.chosen.is_own))
        except GitmemError as problem:
            reason = describe_problem(problem, one.chosen, one.workspace)
            skipped.append(skip_repository(one.chosen, reason, problem))
    return members, skipped


def _open(
    one: StartedRepository, kinds: tuple[str, ...], selection: TreeSelection, encoder: Encoder, *, refresh: bool
) -> Searcher:
    if one.problem is not None:
        raise one.problem
    assert one.workspace is not None, "a repository without a problem is open"
    assert one.reader is not None, "a repository without a problem is open"
    try:
        return open_searcher(one.workspace, selection, kinds, refresh=refresh, reader=one.reader, encoder=encoder)
    except DamagedFile:
        if not refresh:
            raise
        rebuild_damaged(one.workspace, one.reader)
    return open_searcher(one.workspace, selection, kinds, refresh=refresh, reader=one.reader, encoder=encoder)
