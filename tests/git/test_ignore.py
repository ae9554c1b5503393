"""Ignore files against `git check-ignore`, and against patterns that are slow to match."""

from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.git.ignore import IgnoreRules
from tests.gitrepo import MakeRepo, Repo
from tests.patterns.samples import (
    FOLDERS,
    SLOW_PATHS,
    SLOW_PATTERNS,
    find_ignored,
    make_folders,
    paths,
    patterns,
    replace_pattern_files,
)

lines = st.one_of(patterns, patterns.map("!{}".format), st.sampled_from(["", "# note", "/a/*", "!/a/b"]))
contents = st.tuples(st.lists(lines, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda parts: parts[1].join(parts[0]) + (parts[1] if parts[2] else "")
)


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    return make_folders(make_repo())


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(st.sampled_from(FOLDERS), contents, min_size=1),
    candidates=st.lists(paths, min_size=10, max_size=30, unique=True),
)
def test_a_path_is_left_out_exactly_when_git_ignores_it(
    repo: Repo, files: dict[str, str], candidates: list[str]
) -> None:
    rules = IgnoreRules.load(replace_pattern_files(repo, ".gitignore", files))
    assert {path for path in candidates if rules.matches(path.encode())} == find_ignored(repo, candidates)


@pytest.mark.parametrize(
    ("content", "ignored", "included"),
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
def test_corner_cases_of_the_syntax_match_git(
    repo: Repo, content: str, ignored: list[str], included: list[str]
) -> None:
    rules = IgnoreRules.load({b"": content.encode()})
    verdicts = [rules.matches(path.encode()) for path in ignored + included]
    assert verdicts == [True] * len(ignored) + [False] * len(included)
    replace_pattern_files(repo, ".gitignore", {"": content})
    assert find_ignored(repo, ignored + included) == set(ignored)


def test_the_verdict_distinguishes_included_paths_from_unmatched_ones() -> None:
    rules = IgnoreRules.load({b"": b"*.log\n!/build/\n", b"sub": b"!x.log\n"})
    assert rules.verdict(b"a.log") is True
    assert rules.verdict(b"build/deep/a.py") is False
    assert rules.verdict(b"build/a.log") is True
    assert rules.verdict(b"sub/x.log") is False
    assert rules.verdict(b"a.py") is None
    assert IgnoreRules.load({}).verdict(b"a.py") is None


@pytest.mark.parametrize("pattern", SLOW_PATTERNS, ids=range(len(SLOW_PATTERNS)))
def test_matching_time_stays_bounded_for_slow_patterns(pattern: bytes) -> None:
    """The bound is wide: a backtracking matcher takes years for these."""
    rules = IgnoreRules.load({b"": pattern})
    start = process_time()
    for path in SLOW_PATHS:
        rules.matches(path)
    assert process_time() - start < 10


def test_ignore_files_need_no_repository() -> None:
    assert IgnoreRules.load({b"a": b"x\n"}).matches(b"a/b/x")
    assert not IgnoreRules.load({b"a": b"x\n"}).matches(b"b/x")
