"""Order of the results in a search of the past."""

from pathlib import Path

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


def _score(repo: Repo, files: dict[str, str]) -> float:
    repo.commit(files)
    index(repo)
    index_past(workspace_of(repo))
    return ask(repo, "close detach").hits[0].hit.score


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


def test_the_stop_words_of_a_name_are_looked_up_with_it(repo: Repo) -> None:
    repo.commit(
        {"a.py": "def first(request):\n    return user_name(request)\n"}
        | {"b.py": "def other(request):\n    return get_user_name(request)\n"}
    )
    assert _search(repo, "get user name")[0] == "other"


def test_a_stop_word_of_a_name_counts(repo: Repo) -> None:
    caller = "def load(one):\n    get_all(get_all(one))  # get all, then all of one\n\n\n"
    repo.commit({"a.py": caller + "def get_all(one):\n    return one.rows\n"})
    assert _search(repo, "get all")[0] == "get_all"


def test_a_stop_word_of_a_name_counts_less_than_another_word(repo: Repo) -> None:
    caller = "def get_order(one):\n    drop_user(drop_user(one.user, one.user))\n\n\n"
    repo.commit({"a.py": caller + "def drop_user(one):\n    get_order(one)\n"})
    assert _search(repo, "get user")[0] == "drop_user"


def test_the_order_of_the_words_in_a_name_counts(repo: Repo) -> None:
    caller = "def name_user(one):\n    user_name(user_name(one))  # the user name of one\n\n\n"
    repo.commit({"a.py": caller + "def user_name(one):\n    return one.rows\n"})
    assert _search(repo, "user name")[0] == "user_name"


def test_the_length_of_its_file_does_not_change_the_score_of_a_definition(repo: Repo, tmp_path: Path) -> None:
    definition, last = "def close_stream(handle):\n    handle.detach()\n", "def last(value):\n    return value\n"
    others = "".join(f"\n\ndef step_{number}(value):\n    return value * {number}\n" for number in range(200))
    other = Repo.init(tmp_path / "other")
    other.commit({"a.py": "def a():\n    return 1\n"})  # as the fixture does
    first = _score(repo, {"a.py": definition, "b.py": last + others})
    second = _score(other, {"a.py": definition + others, "b.py": last})
    assert first == pytest.approx(second)


def test_a_method_and_its_class_are_one_result(repo: Repo) -> None:
    repo.commit({"a.py": "class Stream:\n    def detach(self):\n        self.handle.close()\n"})
    assert len(_search(repo, "stream detach")) == 1
