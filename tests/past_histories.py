"""A small history of code with everything that happens to definitions, for tests of the index of the past."""

from typing import Final, NamedTuple

from gitmem.answering.past_search import PastAnswer, PastQuery, search_past
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.records.filters import parse_filters
from tests.gitrepo import Repo
from tests.indexes import workspace_of

ENCODER: Final = (
    "class JsonEncoder:\n"
    "    def default(self, value):\n"
    "        if isinstance(value, datetime):\n"
    "            return value.isoformat()\n"
    "        return super().default(value)\n"
)
RETRY: Final = (
    "def retry_request(request):\n    for attempt in range(5):\n        sleep(2**attempt)\n        send(request)\n"
)
RETRY_WITH_JITTER: Final = (
    "def retry_request(request, policy):\n"
    "    while policy.allows_another():\n"
    "        random_jitter = policy.spread()\n"
    "        wait_seconds(policy.backoff + random_jitter)\n"
    "        client.transmit(request)\n"
)
PARSE: Final = (
    "def parse_header(line):\n    name, _, value = line.partition(':')\n    return name.strip(), value.strip()\n"
)


class PastRepo(NamedTuple):
    """Repository with its commits by what they do."""

    repo: Repo
    commits: dict[str, str]


def make_past(repo: Repo) -> PastRepo:
    """Make a history in which an encoder is added and removed, and a function is changed and moved."""
    commits = {
        "first": repo.commit({"src/net.py": RETRY, "src/head.py": PARSE}, "Send requests again"),
        "encoder": repo.commit({"src/wire.py": ENCODER}, "Encode dates"),
        "jitter": repo.commit({"src/net.py": RETRY_WITH_JITTER}, "Spread the attempts"),
    }
    repo.git("mv", "src/net.py", "src/client.py")
    commits["move"] = repo.commit({}, "Name the client")
    repo.git("rm", "-q", "src/wire.py")
    commits["removal"] = repo.commit({}, "Leave the encoding to the framework")
    return PastRepo(repo, commits)


def ask(repo: Repo, text: str, blame: float = 0.0, /, **options: str) -> PastAnswer:
    """Search the past. The options are those of PastQuery, and the filters `author`, `since`, `until` and `path`.

    Introductions are traced for `blame` seconds.
    """
    authors = [options.pop("author")] if "author" in options else []
    include = (options.pop("path"),) if "path" in options else ()
    records = parse_filters(since=options.pop("since", ""), until=options.pop("until", ""), author=authors)
    query = Query(text, filters=SearchFilters(include=include, records=records), min_score=0.0, blame=blame)
    return search_past(workspace_of(repo), PastQuery(query, **options))  # type: ignore[arg-type]


def symbols_of(answer: PastAnswer) -> list[str]:
    """Return the symbols of the results."""
    return [found.hit.symbol for found in answer.hits]
