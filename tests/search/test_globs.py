"""Path filters of a query: agreement with git's own matchers, malformed patterns, and patterns slow to match."""

import re
from time import process_time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.search.globs import compile_globs
from tests.gitrepo import MakeRepo, Repo
from tests.patterns.samples import (
    PIECES,
    SLOW_PATHS,
    SLOW_PATTERNS,
    find_ignored,
    make_folders,
    paths,
    patterns,
    replace_pattern_files,
)
from tests.sample import Cli

FILES = ["a", "b/a", "b/b", "ab/a.c", "ab/b.c", "foo/a", "foo/b/a", "foo/b/a.c", "fooa/a", "a.c", "x.c/a", "é/a", "-",
    "b/foo", "b/ab/a b", "b/x/foo/b.c"]  # fmt: skip
"""A tree in which every path is a file or a folder, never both."""

compare_with_git = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    return make_folders(make_repo())


@pytest.fixture
def tree(make_repo: MakeRepo) -> Repo:
    """Make a repository whose index holds FILES."""
    repo = make_repo("tree")
    repo.write(dict.fromkeys(FILES, ""))
    repo.git("add", "--all")
    return repo


def is_wellformed(pattern: str) -> bool:
    try:
        compile_globs([pattern], [])
    except UsageError:
        return False
    return True


selecting = patterns.filter(lambda pattern: not pattern.startswith("!") and is_wellformed(pattern))


@compare_with_git
@given(
    include=st.lists(selecting, min_size=1, max_size=4),
    candidates=st.lists(paths, min_size=10, max_size=30, unique=True),
)
def test_a_filter_selects_the_paths_that_git_would_ignore(
    repo: Repo, include: list[str], candidates: list[str]
) -> None:
    replace_pattern_files(repo, ".gitignore", {"": "\n".join(include)})
    ignored = find_ignored(repo, candidates)
    selects, rejects = compile_globs(include, []), compile_globs([], include)
    assert {path for path in candidates if selects(path.encode())} == ignored
    assert {path for path in candidates if not rejects(path.encode())} == ignored


@compare_with_git
@given(
    pattern=st.lists(st.sampled_from([piece for piece in PIECES if "\\" not in piece]), min_size=1, max_size=6)
    .map("".join)
    .filter(
        lambda pattern: not pattern.startswith(("!", "#")) and not pattern.endswith((" ", "/")) and "//" not in pattern
    )
)
def test_a_filter_selects_the_paths_of_gits_glob_pathspec(tree: Repo, pattern: str) -> None:
    assume(is_wellformed(pattern))
    anchored = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    # A pathspec glob matches whole paths only, not the files below a folder; and git reduces `//` to `/` in it.
    listed = tree.git("ls-files", "-z", "--", f":(glob){anchored}", f":(glob){anchored}/**").split("\0")[:-1]
    selects = compile_globs([pattern], [])
    assert {path for path in FILES if selects(path.encode())} == set(listed)


@pytest.mark.parametrize(
    ("include", "exclude", "selected", "rejected"),
    [
        (["src"], [], ["src/a.py", "lib/src/a.py"], ["src2/a.py"]),
        (["/src/"], [], ["src/a.py", "src/x/a.py"], ["lib/src/a.py"]),
        (["*.py"], [], ["a.py", "x/a.py"], ["A.PY", "a.pyc"]),
        (["*.py", "*.c"], ["test_*"], ["a.py", "x/a.c"], ["x/test_a.py", "test_x/a.py"]),
        ([], ["vendor/"], ["vendor", "a.py"], ["vendor/a.py", "x/vendor/a.py"]),
        (["[[:alpha:]]*.py"], [], ["a.py", "x/test_1.py"], ["1.py"]),
        (["\\#x", "a\\ "], [], ["#x", "a "], ["x", "a"]),
        (["src/", "!src/gen/"], [], ["src/a.py"], ["src/gen/a.py", "lib/a.py"]),
        (["src/", "!*.py"], [], ["src/a.c"], ["src/a.py"]),
        (["*.py", "!src/"], [], ["src/a.py"], ["src/a.c"]),
    ],
)
def test_filters_select_by_gitignore_syntax(
    include: list[str], exclude: list[str], selected: list[str], rejected: list[str]
) -> None:
    selects = compile_globs(include, exclude)
    assert [path for path in selected + rejected if selects(path.encode())] == selected


@pytest.mark.parametrize("pattern", ["", "/", "!", "[a", "[[:no:]]", "a\\", "# a", "\ud800"])
def test_a_malformed_pattern_is_a_usage_error_that_names_it(pattern: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"malformed path pattern `{pattern}`")):
        compile_globs([], [pattern])


def test_a_malformed_pattern_is_one_line_on_the_command_line(cli: Cli, indexed: Repo) -> None:
    outcome = cli("query", "--path", "src/[a", "cookie", cwd=indexed.path)
    assert outcome.code == 2
    assert outcome.err.splitlines() == [
        "error: malformed path pattern `src/[a`",
        "hint: close the bracket, or write `\\[` for the character itself",
    ]


@pytest.mark.parametrize("pattern", SLOW_PATTERNS, ids=range(len(SLOW_PATTERNS)))
def test_matching_time_stays_bounded_for_slow_patterns(pattern: bytes) -> None:
    """The bound is wide: a backtracking matcher takes years for these."""
    start = process_time()
    try:
        selects = compile_globs([pattern.decode()], [])
    except UsageError:
        return
    for path in SLOW_PATHS:
        selects(path)
    assert process_time() - start < 10
