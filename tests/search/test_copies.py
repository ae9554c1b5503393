"""Copies: one result for the same or nearly the same chunk in several files, which names the others."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.search.copies import LEAST_COSINE, LENGTH_TOLERANCE, group_copies, possible_copies
from gitmem.search.select import Scored, select
from gitmem.types import CHUNK_TYPES
from tests.gitrepo import Repo
from tests.indexes import index
from tests.sample import Cli

FUNCTION, TURN, MODULE = (CHUNK_TYPES.index(name) for name in ("function", "turn", "module"))

SIGNING = '''def sign_cookie(session, key):
    """Sign the cookie of a session with a secret key, so that a browser cannot change it."""
    payload = serialise_session(session)
    signature = hmac_digest(key, payload)
    return payload + b"." + signature
'''
TWIN = SIGNING.replace('"', "'")
OTHER = '''def sign_cookie(jar):
    """Hang a sign on the jar with the chocolate cookies in the kitchen."""
    for biscuit in jar:
        biscuit.label = "please leave some"
'''


@pytest.fixture
def versions(tmp_path: Path) -> Repo:
    """A package in two versions with other quotation marks, and another function of the same name."""
    repo = Repo.init(tmp_path / "versions")
    repo.commit({"v1/cookies.py": SIGNING, "v2/cookies.py": TWIN, "kitchen/jar.py": OTHER})
    index(repo)
    return repo


def test_nearly_the_same_chunk_is_one_result_that_names_the_other(versions: Repo, cli: Cli) -> None:
    results = json.loads(cli("query", "--json", "sign the cookie of a session", cwd=versions.path).out)["results"]
    assert [result["path"] for result in results] == ["v1/cookies.py", "kitchen/jar.py"]
    assert [result["copies"] for result in results] == [["v2/cookies.py:1-5"], []]
    assert "nearly the same in v2/cookies.py:1-5" in cli("query", "sign the cookie", cwd=versions.path).out


def test_a_copy_that_a_filter_excludes_is_neither_named_nor_in_the_way(versions: Repo, cli: Cli) -> None:
    output = cli("query", "--json", "--path", "v2/", "sign the cookie of a session", cwd=versions.path).out
    (result,) = json.loads(output)["results"]
    assert (result["path"], result["copies"]) == ("v2/cookies.py", [])


def test_of_copies_the_best_is_selected_and_makes_room_for_the_next_result() -> None:
    candidates = [Scored(at, f"{at}.py", 0, 9, 1, 1 - at / 10, copy_of=leader) for at, leader in enumerate([0, 0, 2])]
    assert [position for position, _ in select(candidates, 2)] == [0, 2]
    assert [position for position, _ in select(candidates[::-1], 3)] == [0, 2]


def test_only_chunks_of_one_type_and_name_in_several_files_are_compared() -> None:
    paths = ["a/x.py", "b/x.py", "c/y.py"]
    rows = [
        (0, FUNCTION, "f"), (1, FUNCTION, "f"), (2, FUNCTION, "g"), (0, FUNCTION, ""), (1, FUNCTION, ""),
        (2, FUNCTION, ""), (0, TURN, "t"), (1, TURN, "t"), (0, MODULE, "m"), (1, MODULE, "m"), (2, FUNCTION, "h"),
        (2, FUNCTION, "h"),
    ]  # fmt: skip
    file, kind, symbol = zip(*rows, strict=True)
    groups = possible_copies(paths, np.array(file), np.array(kind, np.uint8), symbol)
    assert [group.tolist() for group in groups] == [[0, 1], [3, 4]]


def test_candidates_without_words_copy_nothing() -> None:
    zeros = np.zeros((2, 4), np.float32)
    assert group_copies([np.arange(2)], zeros, np.arange(2), np.zeros(2, np.float32)).tolist() == [0, 1]


@settings(max_examples=100, deadline=None)
@given(data=st.data(), count=st.integers(2, 12))
def test_each_copy_is_near_its_first_and_firsts_are_not_near_each_other(data: st.DataObject, count: int) -> None:
    numbers = st.lists(st.integers(0, 3), min_size=count, max_size=count)
    angles = np.array(data.draw(numbers)) * 0.08
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    file = np.array(data.draw(numbers), np.int64)
    words = np.array([100 + 4 * number for number in data.draw(numbers)], np.float32)
    leader = group_copies([np.arange(count)], vectors, file, words)

    def near(one: int, other: int) -> bool:
        lengths = abs(words[one] - words[other]) <= LENGTH_TOLERANCE * max(words[one], words[other])
        return bool(lengths and file[one] != file[other] and vectors[one] @ vectors[other] >= LEAST_COSINE)

    for own in range(count):
        assert leader[leader[own]] == leader[own] <= own
        if leader[own] != own:
            assert near(own, leader[own])
        else:
            assert not any(near(own, other) for other in range(own) if leader[other] == other)


def small_functions(names: list[str]) -> str:
    """Return C functions of a few lines each, which share rows of the index."""
    return "".join(
        f"/* Do {name.replace('_', ' ')} for the caller of this library. */\n"
        f"int {name}(struct handle *target, int flags)\n{{\n    return apply_to(target, flags, {number});\n}}\n\n"
        for number, name in enumerate(names)
    )


@pytest.fixture
def amalgamated(tmp_path: Path) -> Repo:
    """A library of two files, and the header that was made of both: rows begin elsewhere in it."""
    names = [
        f"{verb}_{noun}" for verb in ("open", "close", "flush", "rotate", "seal") for noun in ("file", "socket", "log")
    ]
    parts = {"src/one.c": small_functions(names[:7]), "src/two.c": small_functions(names[7:])}
    first = "".join(f"#define LIMIT_{number} {number}\n" for number in range(9))
    header = first + "".join(parts.values()).replace("    return", "  return")
    repo = Repo.init(tmp_path / "amalgamated")
    repo.commit({**parts, "single_include/all.h": header})
    index(repo)
    return repo


@pytest.mark.parametrize(("name", "path"), [("open_socket", "src/one.c"), ("rotate_log", "src/two.c")])
def test_a_function_and_its_copy_in_an_amalgamated_header_are_one_result(
    amalgamated: Repo, cli: Cli, name: str, path: str
) -> None:
    results = json.loads(cli("query", "--json", name.replace("_", " "), cwd=amalgamated.path).out)["results"]
    (result,) = [result for result in results if result["symbol"] == name]
    assert result["path"] == path
    lines = (amalgamated.path / "single_include/all.h").read_text().splitlines()
    (copy,) = result["copies"]
    first, last = map(int, copy.removeprefix("single_include/all.h:").split("-"))
    assert f"int {name}(struct handle *target, int flags)" in lines[first - 1 : last]
