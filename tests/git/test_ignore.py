"""Ignore files against `git check-ignore`, and against patterns made to be slow."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.git.ignore import IgnoreRules
from tests.gitrepo import MakeRepo, Repo, isolated_environment

PIECES = ["a", "b", "a.c", "/", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "[^b-c]", "[[:alpha:]]", "[]a]",
    "[a", "[[:no:]]", "[a-\\c]", "\\", "\\*", "\\ ", "\\/", " ", "!", "#", "*.c", "foo/", "\t", "-", "é"]  # fmt: skip
NAMES = ["a", "b", "ab", "a.c", "b.c", "foo", "*", "a b", "a ", "!a", "#a", "-", "]", "[a", "\\a", "é"]
FOLDERS = ["", "a", "a/b", "b"]

patterns = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
lines = st.one_of(patterns, patterns.map("!{}".format), st.sampled_from(["", "# note", "/a/*", "!/a/b"]))
contents = st.tuples(st.lists(lines, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda made: made[1].join(made[0]) + (made[1] if made[2] else "")
)
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=5).map("/".join).filter(lambda path: path not in FOLDERS)


def git_ignores(repo: Repo, asked: list[str]) -> set[str]:
    """What git itself leaves out; exit code 1 means nothing."""
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=repo.path,
        env=isolated_environment(),
        input="\0".join(asked).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.decode().split("\0")[:-1])


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    made = make_repo()
    for folder in FOLDERS:
        (made.path / folder).mkdir(exist_ok=True)
    return made


def put(repo: Repo, name: str, files: Mapping[str, str]) -> dict[bytes, bytes]:
    """Write these files and no others of that name; give back what the rules are loaded from."""
    for folder in FOLDERS:
        (repo.path / folder / name).unlink(missing_ok=True)
    for folder, content in files.items():
        (repo.path / folder / name).write_bytes(content.encode())
    return {folder.encode(): content.encode() for folder, content in files.items()}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(st.sampled_from(FOLDERS), contents, min_size=1),
    asked=st.lists(paths, min_size=10, max_size=30, unique=True),
)
def test_a_path_is_left_out_exactly_when_git_ignores_it(repo: Repo, files: dict[str, str], asked: list[str]) -> None:
    rules = IgnoreRules.load(put(repo, ".gitignore", files))
    assert {path for path in asked if rules.matches(path.encode())} == git_ignores(repo, asked)


@pytest.mark.parametrize(
    ("content", "left_out", "kept"),
    [
        ("*.log\n!keep.log\n", ["a.log", "x/y.log"], ["keep.log", "x/keep.log"]),
        ("/docs/*\n!/docs/api/\n", ["docs/a"], ["docs/api/a", "x/docs/a"]),
        ("/docs/**\n!/docs/api/\n", ["docs/a", "docs/api/a"], ["x/docs/a"]),
        ("gen/\n!gen/keep\n", ["gen/a", "gen/keep", "x/gen/a"], ["gen"]),
        ("a/**/z\n", ["a/z", "a/b/z", "a/b/c/z"], ["x/a/z"]),
        ("\ufeffdata \n\\#odd\nspace\\ \r\n", ["data", "#odd", "space "], ["data ", "odd"]),
        ("foo**/bar\n", ["foo/bar", "fooX/bar", "foo1/x/bar"], ["bar"]),
    ],
)
def test_the_known_corners_of_the_syntax(repo: Repo, content: str, left_out: list[str], kept: list[str]) -> None:
    rules = IgnoreRules.load({b"": content.encode()})
    assert [rules.matches(path.encode()) for path in left_out + kept] == [True] * len(left_out) + [False] * len(kept)
    put(repo, ".gitignore", {"": content})
    assert git_ignores(repo, left_out + kept) == set(left_out)


def test_a_verdict_tells_asked_for_from_not_mentioned() -> None:
    rules = IgnoreRules.load({b"": b"*.log\n!/build/\n", b"sub": b"!x.log\n"})
    assert rules.verdict(b"a.log") is True
    assert rules.verdict(b"build/deep/a.py") is False
    assert rules.verdict(b"build/a.log") is True
    assert rules.verdict(b"sub/x.log") is False
    assert rules.verdict(b"a.py") is None
    assert IgnoreRules.load({}).verdict(b"a.py") is None


SLOW = [b"*a" * 40 + b"b", b"a/**/" * 100 + b"b", b"**/*a*a*a*a*b/**/*a*a*a*b", b"/" + b"*a*/" * 20 + b"b",
    b"**/" + b"*/" * 50 + b"b", b"[a-z]*" * 50 + b"!", b"?*" * 100 + b"0", b"a**/" * 60 + b"b",
    b"**/a*a*a*a*a*a*a*a/**/a/b", b"*" * 3000 + b"b", b"[" * 3000, b"\\" * 3001]  # fmt: skip


@pytest.mark.parametrize("pattern", SLOW, ids=range(len(SLOW)))
def test_a_pattern_made_to_be_slow_stays_harmless(pattern: bytes) -> None:
    """The bound is wide: a backtracking matcher takes years for these."""
    hostile = [b"/".join([b"a" * 100] * 40), b"a" * 4000, b"/".join([b"a"] * 2000)]
    rules = IgnoreRules.load({b"": pattern})
    start = process_time()
    for path in hostile:
        rules.matches(path)
    assert process_time() - start < 10


def test_ignore_files_need_no_repository(tmp_path: Path) -> None:
    assert IgnoreRules.load({b"a": b"x\n"}).matches(b"a/b/x")
    assert not IgnoreRules.load({b"a": b"x\n"}).matches(b"b/x")
