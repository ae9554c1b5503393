"""Order of the results in a search of the past."""

import pytest

from gitmem.freshness.past_run import index_past
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of
from tests.past_histories import ask, symbols_of

pytestmark = pytest.mark.usefixtures("fake_model")

_USERS = (
    "def set_user_name(user, name):\n    user.name = name\n\n\n"
    "def user_name_length(user):\n    return len(get_user_name(user)) + len(get_user_name(user.parent))\n\n\n"
    "def get_user_name(user):\n    return user.record['name']\n"
)


def _search(repo: Repo, text: str) -> list[str]:
    index(repo)
    index_past(workspace_of(repo))
    return symbols_of(ask(repo, text))


def test_the_definition_whose_name_is_the_query_precedes_its_callers(repo: Repo) -> None:
    calls = "    get_user_name(get_user_name(user))  # get the user name, then the user name of this user\n" * 4
    repo.commit({"users.py": _USERS, "cache.py": f"def user_name_of_user(user):\n{calls}"})
    assert _search(repo, "get user name")[0] == "get_user_name"


def test_definitions_of_one_version_do_not_lower_each_other(repo: Repo) -> None:
    repo.commit({"users.py": _USERS, "other.py": "def rename(user):\n    user.drop()\n"})
    assert set(_search(repo, "user name")[:3]) == {"user_name_length", "get_user_name", "set_user_name"}


def test_of_equal_definitions_the_one_with_more_versions_comes_first(repo: Repo) -> None:
    def text(name: str, step: str) -> str:
        return f"def close_{name}(handle):\n    {step}\n    handle.detach()\n"

    repo.commit({"a.py": text("stream", "handle.flush_buffers()"), "b.py": text("socket", "handle.flush_buffers()")})
    repo.commit({"b.py": text("socket", "handle.shutdown(both_directions)\n    handle.wait_for_peer(timeout_seconds)")})
    assert _search(repo, "close detach")[0] == "close_socket"


def test_a_long_function_is_one_definition(repo: Repo) -> None:
    def text(first: str) -> str:
        return f"def convert(value):\n    {first}\n" + "".join(
            f"    step_{number} = transform_part_{number}(value)\n" for number in range(120)
        )

    repo.commit({"a.py": text("value = prepare(value)")}, "Convert")
    repo.commit({"a.py": text("value = check_all_units_of_measurement(value)")}, "Check")
    index(repo)
    index_past(workspace_of(repo))
    hits = ask(repo, "transform part").hits
    assert [found.hit.symbol for found in hits] == ["convert"]
    assert hits[0].hit.end_line == 122
