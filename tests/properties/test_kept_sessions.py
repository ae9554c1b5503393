"""Search sessions that are kept, and answers that are given again."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.session_excerpts import read_session
from gitmem.answering.sessions import Session, SessionResult, list_sessions, use_session, write_session
from gitmem.resident.search_cache import SearchCache
from gitmem.search.engine import SearchResult
from tests.gitrepo import Repo
from tests.sample import open_sample

many = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

STEPS = st.lists(st.one_of(st.just(-1), st.integers(0, 11)), max_size=40)
"""A search for -1, and the use of the session of that rank for any other number."""


@many
@given(steps=STEPS, most=st.integers(1, 12), limit=st.integers(1, 5))
def test_the_sessions_used_last_remain(own: Repo, steps: list[int], most: int, limit: int) -> None:
    """Property 46: Sessions."""
    workspace = open_sample(own)
    for file in workspace.paths.state.glob("search-*"):
        file.unlink()
    blob = own.git("rev-parse", "HEAD:src/cookies.py").strip() if not steps else "0" * 40
    result = SessionResult("code", "src/cookies.py", 1, 2, "text", "", "python", 0.5, blob, False)
    expected: list[str] = []  # the one used last first
    for number, step in enumerate(steps):
        if step < 0:
            session = Session(f"search_{number:08x}", float(number), "query", "main", (result,) * 4)
            write_session(workspace.paths, session, most)
            expected = [session.id, *expected][:most]
        elif step < len(expected):
            name = expected.pop(step)
            assert use_session(workspace, name).id == name
            expected.insert(0, name)
    kept = list_sessions(workspace)
    assert [session.id for session in kept] == expected
    for session in kept[:1]:
        assert len(read_session(workspace, session, limit)) == 1 + min(limit, 4)


QUERIES = st.builds(
    Query,
    st.sampled_from(["sign", "load"]),
    mode=st.sampled_from(["hybrid", "lexical"]),
    filters=st.builds(SearchFilters, languages=st.sampled_from([(), ("python",)])),
)


@many
@given(
    seconds=st.sampled_from([0, 60]),
    calls=st.lists(st.tuples(st.integers(0, 40), QUERIES, st.sampled_from([10, 20])), max_size=20),
)
def test_an_identical_query_is_searched_once_a_minute(seconds: int, calls: list[tuple[int, Query, int]]) -> None:
    """Property 28: Search cache."""
    now = 0.0
    cache: SearchCache[SearchResult] = SearchCache(seconds, lambda: now)
    made: dict[tuple[Query, int], tuple[float, SearchResult]] = {}
    for wait, query, limit in calls:
        now += wait
        result = SearchResult((query.text,), [])
        time, former = made.get((query, limit), (-1.0, None))
        is_kept = former is not None and now - time < seconds
        answer = cache.get(query, limit, lambda result=result: result)  # type: ignore[misc]
        assert answer is (former if is_kept else result)
        if not is_kept:
            made[query, limit] = now, result
