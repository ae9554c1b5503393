"""Attribute files against `git check-attr`, and what is made of the attributes that matter here."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.git.attributes import AttributeRules, Value, exclusion
from tests.git.test_ignore import FOLDERS, paths, patterns, put
from tests.gitrepo import MakeRepo, Repo

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
    lambda made: made[0] + made[2].join(made[1])
)


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    made = make_repo()
    for folder in FOLDERS:
        (made.path / folder).mkdir(exist_ok=True)
    return made


def git_attributes(repo: Repo, asked: list[str]) -> dict[str, dict[str, str]]:
    """What git itself says, without what is unspecified."""
    said = repo.git("check-attr", "-z", "--stdin", *ATTRIBUTES, stdin="\0".join(asked).encode()).split("\0")[:-1]
    found: dict[str, dict[str, str]] = {path: {} for path in asked}
    for path, name, value in zip(said[0::3], said[1::3], said[2::3], strict=True):
        if value != "unspecified":
            found[path][name] = value
    return found


def in_gits_words(value: Value) -> str:
    return value if isinstance(value, str) else "set" if value else "unset"


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(st.sampled_from(FOLDERS), contents, min_size=1),
    asked=st.lists(paths, min_size=10, max_size=30, unique=True),
)
def test_attributes_are_those_git_finds(repo: Repo, files: dict[str, str], asked: list[str]) -> None:
    rules = AttributeRules.load(put(repo, ".gitattributes", files))
    ours = {
        path: {name: in_gits_words(value) for name, value in rules.of(path.encode()).items() if name in ATTRIBUTES}
        for path in asked
    }
    assert ours == git_attributes(repo, asked)


def test_lines_that_are_too_long_count_as_little_as_in_git(repo: Repo) -> None:
    content = "a x " + "y=" + "1" * 2100 + "\nb x " + "y=" + "1" * 2000 + "\n"
    rules = AttributeRules.load(put(repo, ".gitattributes", {"": content}))
    assert "x" not in rules.of(b"a")
    assert rules.of(b"b")["x"] is True
    assert "x" not in git_attributes(repo, ["a"])["a"]


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
def test_the_reason_for_leaving_a_file_out(line: str, reason: str | None) -> None:
    assert exclusion(AttributeRules.load({b"": line.encode()}).of(b"some/file.c")) == reason


def test_a_macro_of_ones_own_carries_its_attributes() -> None:
    rules = AttributeRules.load(
        {b"": b"[attr]made linguist-generated -diff\n*.gen made\n", b"sub": b"[attr]no x\n* no\n"}
    )
    assert rules.of(b"a/b.gen") == {"made": True, "linguist-generated": True, "diff": False}
    assert rules.of(b"sub/b") == {"no": True}


def test_values_that_are_no_utf8_survive() -> None:
    assert AttributeRules.load({b"": b"* linguist-language=\xff\n"}).of(b"a") == {"linguist-language": "\udcff"}
