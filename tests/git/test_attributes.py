"""Attribute files against `git check-attr`, the reasons for leaving files out, and patterns that are slow to match."""

from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.git.attributes import AttributeRules, Value, exclusion_reason
from tests.gitrepo import MakeRepo, Repo
from tests.patterns.samples import (
    FOLDERS,
    SLOW_PATHS,
    SLOW_PATTERNS,
    make_folders,
    paths,
    patterns,
    replace_pattern_files,
)

ATTRIBUTES = ["x", "y", "m", "binary", "text", "diff", "merge", "linguist-generated"]
WORDS = ["x", "-x", "!x", "x=1", "x=", "-x=1", "y", "-y", "m", "-m", "!m", "binary", "-binary", "!binary", "text=auto",
    "diff=cpp", "-diff", "=", "é", "linguist-generated=true", "--", "x!"]  # fmt: skip

assignments = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
quoted = patterns.map(lambda text: '"' + text.replace('"', "") + '"')
targets = st.one_of(patterns, quoted, st.sampled_from(['"a\\.c"', '"a\\tb"', '"\\141"', '"open', '"a"x', "* ", "\ta"]))
macros = st.sampled_from(["[attr]m", "[attr]binary", "[attr]x", "[attr]", "[attr]-", "[attr] y"])
lines = st.tuples(st.one_of(targets, targets, targets, macros), st.sampled_from([" ", "\t", "  "]), assignments).map(
    "".join
)
contents = st.tuples(st.sampled_from(["", "\ufeff"]), st.lists(lines, max_size=5), st.sampled_from(["\n", "\r\n"])).map(
    lambda parts: parts[0] + parts[2].join(parts[1])
)


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    return make_folders(make_repo())


def check_attributes(repo: Repo, candidates: list[str]) -> dict[str, dict[str, str]]:
    """Return the attributes of each path according to git, without the unspecified ones."""
    output = repo.git("check-attr", "-z", "--stdin", *ATTRIBUTES, stdin="\0".join(candidates).encode())
    fields = output.split("\0")[:-1]
    attributes: dict[str, dict[str, str]] = {path: {} for path in candidates}
    for path, name, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=True):
        if value != "unspecified":
            attributes[path][name] = value
    return attributes


def format_value(value: Value) -> str:
    """Format a value like `git check-attr`."""
    return value if isinstance(value, str) else "set" if value else "unset"


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(st.sampled_from(FOLDERS), contents, min_size=1),
    candidates=st.lists(paths, min_size=10, max_size=30, unique=True),
)
def test_attributes_equal_those_of_git(repo: Repo, files: dict[str, str], candidates: list[str]) -> None:
    rules = AttributeRules.load(replace_pattern_files(repo, ".gitattributes", files))
    ours = {
        path: {name: format_value(value) for name, value in rules.of(path.encode()).items() if name in ATTRIBUTES}
        for path in candidates
    }
    assert ours == check_attributes(repo, candidates)


def test_overlong_lines_are_ignored_as_in_git(repo: Repo) -> None:
    content = "a x " + "y=" + "1" * 2100 + "\nb x " + "y=" + "1" * 2000 + "\n"
    rules = AttributeRules.load(replace_pattern_files(repo, ".gitattributes", {"": content}))
    assert "x" not in rules.of(b"a")
    assert rules.of(b"b")["x"] is True
    assert "x" not in check_attributes(repo, ["a"])["a"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("* binary", "binary"),
        ("* -diff", "binary"),
        ("* diff=cpp", None),
        ("* binary -binary diff", None),
        ("* linguist-generated", "generated"),
        ("* linguist-generated=true", "generated"),
        ("* linguist-generated=false", None),
        ("* -linguist-generated", None),
        ("* linguist-vendored", "vendored"),
        ("* linguist-documentation", None),
        ("* gitmem=false", "excluded"),
        ("* -gitmem", "excluded"),
        ("* gitmem", None),
        ("* filter=lfs diff=lfs merge=lfs -text", None),
        ("", None),
    ],
)
def test_attributes_give_the_reason_for_leaving_a_file_out(line: str, reason: str | None) -> None:
    assert exclusion_reason(AttributeRules.load({b"": line.encode()}).of(b"some/file.c")) == reason


def test_a_user_defined_macro_sets_its_attributes() -> None:
    rules = AttributeRules.load(
        {b"": b"[attr]output linguist-generated -diff\n*.gen output\n", b"sub": b"[attr]no x\n* no\n"}
    )
    assert rules.of(b"a/b.gen") == {"output": True, "linguist-generated": True, "diff": False}
    assert rules.of(b"sub/b") == {"no": True}


def test_values_that_are_not_utf8_survive() -> None:
    assert AttributeRules.load({b"": b"* linguist-language=\xff\n"}).of(b"a") == {"linguist-language": "\udcff"}


@pytest.mark.parametrize("pattern", SLOW_PATTERNS, ids=range(len(SLOW_PATTERNS)))
def test_matching_time_stays_bounded_for_slow_patterns(pattern: bytes) -> None:
    """The bound is wide: a backtracking matcher takes years for these."""
    rules = AttributeRules.load({b"": pattern[:2000] + b" x\n"})
    start = process_time()
    for path in SLOW_PATHS:
        rules.of(path)
    assert process_time() - start < 10
