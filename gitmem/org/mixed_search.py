"""Search published repositories together with those of this machine: the server searches while this machine does.

A server that is slow, out of reach or of another version never fails the local part. It delays it by `ANSWER_SECONDS`
at most, counted from the start of the search.
"""

import math
import time
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Final

from gitmem.answering.federated_answer import FederatedAnswer, answer_of_none
from gitmem.answering.federated_merge import merge_answers
from gitmem.answering.federated_query import require_searched
from gitmem.answering.repository_ids import PUBLISHED
from gitmem.answering.repository_selection import ChosenMembers, SkippedRepository
from gitmem.answering.search_query import Query, check_query, kinds_of
from gitmem.errors import DatabaseFailed, GitmemError, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.memory.kinds import CODE
from gitmem.org.connection_pool import open_shared
from gitmem.org.database_query import search_database
from gitmem.org.retries import try_again
from gitmem.settings import Settings

CONNECT_SECONDS: Final = 3
"""Time for a connection, unless the DSN has a `connect_timeout`."""

RETRY_SECONDS: Final = 0.5
"""Pauses between attempts after a failure that may pass, together: local results wait for the server."""

ANSWER_SECONDS: Final = 10.0
"""Time for everything that the server does for one search."""

_LIMIT_STATEMENTS: Final = """
SELECT set_config('statement_timeout', %s, false) WHERE current_setting('statement_timeout') = '0'
"""


def search_together(
    chosen: ChosenMembers,
    query: Query,
    selection: TreeSelection,
    settings: Settings,
    answer_local: Callable[[], FederatedAnswer],
) -> FederatedAnswer:
    """Answer from the repositories on the server, and those of this machine by `answer_local`, if there are any.

    Raises: UsageError, NoIndex or UnknownRevision if no repository could be searched, and as `answer_local`.
    """
    started = time.perf_counter()
    limit = check_query(query, selection, settings)
    _check_published(query, selection)

    def search_server() -> FederatedAnswer:
        with open_shared(settings.org, CONNECT_SECONDS) as database:
            # So the server ends a search that nobody waits for; a limit of its administrator stays.
            database.execute(_LIMIT_STATEMENTS, (f"{ANSWER_SECONDS:.0f}s",))
            names = chosen.published
            return search_database(database, settings, names, query, selection.rev, is_elsewhere=chosen.has_own)

    server = _ServerSearch(lambda: try_again(search_server, RETRY_SECONDS))
    server.start()
    parts = [answer_local()] if chosen.local else []
    try:
        parts.append(server.wait())
    except UsageError:
        raise
    except GitmemError as problem:
        parts.append(answer_of_none(query, _skip(chosen.published, problem)))
    answer = require_searched(merge_answers(parts, limit))
    elapsed = round((time.perf_counter() - started) * 1000, 1)
    return answer._replace(stats={**answer.stats, "query_time_ms": elapsed})


def _skip(names: Sequence[str], problem: GitmemError) -> list[SkippedRepository]:
    """Return all repositories of the server as skipped for one reason."""
    reason = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    return [SkippedRepository(PUBLISHED + name, reason) for name in names]


def _check_published(query: Query, selection: TreeSelection) -> None:
    """Refuse what makes no sense on the server, which has the code of published revisions alone. Raises: UsageError."""
    hint = f"leave it out, or the names that begin with `{PUBLISHED}`"
    for is_given, problem in (
        (selection.staged, "`--staged` applies to working trees"),
        (selection.changed, "`--changed` applies to one repository"),
        (CODE not in kinds_of(query.filters, selection), "only code is published"),
        (query.filters.records.any, "the last change of a file is read from repositories of this machine"),
        (query.neighbors, "the chunks around a result are read from repositories of this machine"),
        (query.blame == math.inf, "the commits of a result are read from repositories of this machine"),
    ):
        if is_given:
            raise UsageError(problem, hint=hint)


class _ServerSearch(Thread):
    """Search that runs beside the local one. The process may end, or go on without it, before it does."""

    def __init__(self, search: Callable[[], FederatedAnswer]) -> None:
        super().__init__(name="gitmem-org", daemon=True)
        self._search = search
        self._deadline = time.monotonic() + ANSWER_SECONDS
        self._answer: FederatedAnswer | None = None
        self._problem: BaseException | None = None

    def run(self) -> None:
        try:
            self._answer = self._search()
        except BaseException as problem:
            self._problem = problem  # raised where the answer is awaited

    def wait(self) -> FederatedAnswer:
        """Return the answer at the deadline at the latest. Raises: as the search, and DatabaseFailed."""
        self.join(max(0.0, self._deadline - time.monotonic()))
        if self._problem is not None:
            raise self._problem
        if self._answer is None:
            raise DatabaseFailed(f"PostgreSQL did not answer within {ANSWER_SECONDS:.0f} seconds")
        return self._answer
