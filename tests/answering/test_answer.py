"""Answers as a user sees them: ranking, filters, limits, ties, and text that equals the blob's."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.answering.search_query import MAX_QUERY
from gitmem.answering.searcher import open_searcher
from gitmem.errors import GitFailed, NoIndex, UnknownRevision, UsageError
from gitmem.freshness.tree_selection import WORKING_TREE, SelectedTree, TreeReader
from gitmem.locations import Location
from gitmem.words import utf8_text
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo
from tests.indexes import InlinePool, brief_hits, index, python_file, search

DEFINES = '''def rotate_keys(ring):
    """Replace the oldest signing key of a ring."""
    return ring[1:] + [new_key()]
'''
MENTIONS = '''def nightly(ring):
    """Housekeeping at night: rotate_keys rotate_keys rotate_keys."""
    rotate_keys(ring)
    return rotate_keys(ring)
'''
TESTS = '''def test_rotate_keys_replaces_the_oldest_signing_key():
    """Rotate keys: replace the oldest signing key of a ring."""
    assert rotate_keys([1, 2]) == [2, 3]
'''
FILES = {
    "lib/keys.py": DEFINES,
    "lib/jobs.py": MENTIONS,
    "tests/test_keys.py": TESTS,
    "lib/many.py": python_file(*(f"ring_step_{number}" for number in range(20))),
    "web/keys.go": "package web\n\n// RotateKeys drops the oldest.\nfunc RotateKeys(r []int) []int {\n\treturn r\n}\n",
    "docs/keys.md": "# Keys\n\n## Rotation\n\nKeys are rotated by `rotate_keys` every quarter.\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Index a small repository with the real model."""
    repo = Repo.init(tmp_path_factory.mktemp("answers") / "repo")
    repo.commit(FILES)
    index(repo)
    return repo


def paths(answer: Any) -> list[str]:
    return [hit.path for hit, _ in answer.hits]


@pytest.mark.parametrize("query", ["rotate_keys", "rotateKeys", "RotateKeys", "where is rotate_keys defined"])
def test_a_definition_ranks_above_a_mention(repo: Repo, query: str) -> None:
    order = paths(search(repo, query))
    assert order.index("lib/keys.py") < order.index("lib/jobs.py")
    assert order[0] in ("lib/keys.py", "web/keys.go")


def test_code_ranks_above_its_tests_unless_the_query_is_for_tests(repo: Repo) -> None:
    order = paths(search(repo, "replace the oldest signing key of a ring"))
    assert order.index("lib/keys.py") < order.index("tests/test_keys.py")
    assert paths(search(repo, "test that rotate keys replaces the oldest signing key"))[0] == "tests/test_keys.py"


def test_results_are_spread_over_several_files(repo: Repo) -> None:
    order = paths(search(repo, "ring", limit=8))
    assert len(set(order)) >= 3


def test_scores_never_increase_and_are_between_zero_and_one(repo: Repo) -> None:
    for mode in ("hybrid", "semantic", "lexical"):
        scores = [hit.score for hit, _ in search(repo, "rotate the signing key", mode=mode).hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_no_two_hits_overlap(repo: Repo) -> None:
    hits = [hit for hit, _ in search(repo, "ring step", limit=50).hits]
    for one in hits:
        for other in hits:
            assert one is other or one.path != other.path or one.end <= other.start or other.end <= one.start


def test_hits_of_equal_score_are_sorted_by_path(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {f"x{mark}y/z.py": "def same_thing(value):\n    return value\n" + "\n" * n for n, mark in enumerate("~=-+,.")}
    )
    index(repo)
    first = brief_hits(search(repo, "same_thing"))
    assert [path for path, *_ in first] == sorted(path for path, *_ in first)
    assert brief_hits(search(repo, "same_thing")) == first


def test_copies_of_a_blob_are_one_hit_with_all_paths(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"b/keys.py": DEFINES, "a/keys.py": DEFINES, "c/other.py": MENTIONS})
    index(repo)
    hit = search(repo, "rotate_keys").hits[0][0]
    assert (hit.path, hit.copies) == ("a/keys.py", (Location("b/keys.py"),))
    assert paths(search(repo, "rotate_keys", include=("b/",))) == ["b/keys.py"]


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_the_limit_is_reached_if_enough_chunks_match(repo: Repo, limit: int) -> None:
    assert len(search(repo, "ring", limit=limit).hits) == min(limit, len(search(repo, "ring", limit=50).hits))


def test_a_word_in_one_file_of_many_makes_no_sense_of_a_query(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"lib/keys.py": DEFINES, "lib/names.py": "AUTHORS = ['Vanilla Smith', 'Bob']\n"})
    index(repo)
    nonsense = "chocolate cake recipe with vanilla frosting"
    assert search(repo, nonsense).hits, "two files are too few to judge a query by"
    repo.commit({f"lib/step_{number}.py": python_file(f"ring_step_{number}") for number in range(10)})
    index(repo)
    refused = search(repo, nonsense)
    assert not refused.hits
    assert refused.rejected is not None


@pytest.mark.parametrize("limit", [-1, 51, 10**9])
def test_a_limit_out_of_range_is_rejected(repo: Repo, limit: int) -> None:
    with pytest.raises(UsageError, match="between 1 and 50"):
        search(repo, "ring", limit=limit)


@pytest.mark.parametrize("text", ["", "  \n\t", "a\0b", "x" * (MAX_QUERY + 1), "x" * 100_000])
def test_an_invalid_query_is_rejected(repo: Repo, text: str) -> None:
    with pytest.raises(UsageError):
        search(repo, text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200).filter(lambda text: text.strip() and "\0" not in text))
def test_any_valid_query_gets_an_answer(repo: Repo, text: str) -> None:
    for hit, lines in search(repo, text).hits:
        assert len(lines) == hit.end_line - hit.start_line + 1


def test_any_revision_is_searchable_and_is_indexed_first(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    first = repo.commit({"a.py": python_file("old_way")})
    repo.git("tag", "v1")
    repo.git("rm", "--quiet", "a.py")
    repo.commit({"b.py": python_file("new_way")})
    index(repo)
    assert paths(search(repo, "old_way", mode="lexical")) in ([], ["b.py"])
    for rev in (first, "v1", "HEAD~1", "HEAD~1^{tree}"):
        assert paths(search(repo, "old_way", rev=rev)) == ["a.py"]
    with pytest.raises(UnknownRevision):
        search(repo, "old_way", rev="no-such-thing")


def test_small_changes_are_indexed_before_the_answer_and_large_ones_in_the_background(
    tmp_path: Path, fake_model: type[InlinePool], monkeypatch: pytest.MonkeyPatch
) -> None:
    background_runs: list[Workspace] = []
    monkeypatch.setattr("gitmem.freshness.background.start_background_refresh", background_runs.append)
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": python_file("old_way")})
    with pytest.raises(NoIndex):
        search(repo, "old_way")
    index(repo)
    repo.commit({"b.py": python_file("new_way")})
    stale = search(repo, "new_way", refresh=False)
    assert (stale.view.stale, stale.view.missing) == (True, 1)
    fresh = search(repo, "new_way")
    assert paths(fresh)[0] == "b.py"
    assert not fresh.view.stale
    repo.commit({f"c{number}.py": python_file(f"way_{number}") for number in range(40)})
    repo.git("config", "gitmem.healBudget", "1")
    large = search(repo, "way_7")
    assert large.view.stale
    assert 0 < large.view.missing < 40
    assert len(background_runs) == 1, "a background run indexes the rest"


# -- the text of a hit equals its blob

CONTENTS = {
    "crlf.py": b"def one():\r\n    return 1\r\n\r\n\r\ndef two():\r\n    return 2\r\n",
    "bom.py": b"\xef\xbb\xbfdef marked():\n    return 1\n",
    "latin.py": b"def caf\xe9():\n    return '\xe9t\xe9'\n\n\ndef th\xe9():\n    return 2\n",
    "lone.txt": b"first line\rstill first\nsecond line\x0cpage\n",
    "nofeed.py": b"def last():\n    return 'no line feed at the end'",
    "wide.py": "def 検索(値):\n    return '東京' + 値\n".encode(),
    "form.txt": "one\u2028two\x85three\nfour\n".encode(),
    "blank.py": b"\n\n\n\ndef late():\n\n\n    return 1\n\n\n",
    "deep/one line.json": b'{"key": "value"}',
}


@pytest.fixture
def contents(tmp_path: Path, fake_model: type[InlinePool]) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.git("config", "core.autocrlf", "false")
    repo.commit(CONTENTS)
    index(repo)
    return repo


@pytest.mark.parametrize("name", CONTENTS)
def test_spans_and_lines_of_a_hit_match_its_blob(contents: Repo, name: str) -> None:
    data = utf8_text(CONTENTS[name])
    hits = search(
        contents, "one marked café first last 検索 two late key value return", include=(f"/{name}",), limit=50
    ).hits
    assert hits
    for hit, lines in hits:
        assert hit.path == name
        assert data[: hit.start].count(b"\n") + 1 == hit.start_line
        assert data[: hit.end - 1].count(b"\n") + 1 == hit.end_line
        whole = data.split(b"\n")[hit.start_line - 1 : hit.end_line]
        assert [plain(line) for line in whole] == lines
        assert data[hit.start : hit.end].strip(b"\xef\xbb\xbf \r\n") in b"\n".join(whole)


def plain(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig").removesuffix("\r")
    except UnicodeDecodeError:
        return line.decode("latin-1").removesuffix("\r")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"text\0more", "binary"),
        (b"x" * 8191 + b"\0", "binary"),
        (b" \n\t\r\n", "empty"),
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "lfs"),
        (b"var a=1;" * 2000, "minified"),
        (b"x = 1\n" * 180_000, "large"),
        (b"\xef\xbb\xbf \n", "empty"),
        (b"fileFormatVersion: 2\r\nguid: 9f8e7d6c5b4a39281706f5e4d3c2b1a0\r\nMonoImporter:\r\n", "generated"),
        (b"uid://c4x0v1b2n3m4\n", "generated"),
        (b'[remap]\n\nimporter="texture"\npath="res://icon.ctex"\n', "generated"),
    ],
)
def test_files_without_text_are_skipped_with_a_reason(
    tmp_path: Path, fake_model: type[InlinePool], content: bytes, reason: str
) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"file.js": content, "other.py": python_file("other")})
    assert index(repo).skipped == {reason: 1}
    assert paths(search(repo, "var x text other", min_score=0)) == ["other.py"]


@pytest.mark.parametrize(
    ("head", "shapes", "skipped"),
    [
        ("<svg>", 400, {"drawing": 1}),
        (
            '<?xml version="1.0"?>\n<!-- Made by a program <svg -->\n<!DOCTYPE svg>\n<svg width="9">',
            400,
            {"drawing": 1},
        ),
        ("<svg>", 4, {}),
        ("<menu>", 400, {}),
        ("<menu><svg>", 400, {}),
    ],
)
def test_pictures_are_skipped_unless_they_are_small(
    tmp_path: Path, fake_model: type[InlinePool], head: str, shapes: int, skipped: dict[str, int]
) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.svg": head + '\n<path d="M 1 2 L 3 4"/>' * shapes})
    assert index(repo).skipped == skipped


def test_a_label_in_the_attributes_gives_a_header_its_language(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    labels = "* linguist-language\n*.h linguist-language=C++\n*.css linguist-language=Java\n"
    repo.commit(
        {".gitattributes": labels, "a.h": "struct Order { int total() const; };\n", "a.css": "p { color: red }\n"}
    )
    index(repo)
    found = {hit.path: (hit.language, hit.symbol) for hit, _ in search(repo, "order total color", min_score=0).hits}
    assert found["a.h"] == ("cpp", "Order")
    assert found["a.css"][0] == "css"


def test_files_with_a_long_line_or_a_late_nul_are_indexed(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"data.js": b"// table\n" + b"call(1);\n" * 2000 + b"x" * 2000, "late.txt": b"word\n" * 2000 + b"\0"})
    assert index(repo).skipped == {}


def test_the_file_size_limit_is_exact(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.git("config", "gitmem.maxFileBytes", "2k")
    repo.commit({"fits.txt": b"word\n" * 409 + b"abc", "more.txt": b"word\n" * 409 + b"abcd"})
    assert index(repo).skipped == {"large": 1}
    assert paths(search(repo, "word", limit=50))[0] == "fits.txt"


def test_a_chunk_of_very_many_lines_has_the_right_last_line(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    body = "".join(f"    def m{number}(self): pass\n" for number in range(3000))
    repo.commit({"long.py": "class Long:\n" + "\n" * 70_000 + body})
    index(repo)
    ends = {hit.end_line for hit, _ in search(repo, "Long", chunk_types=("class",)).hits}
    assert ends == {73_001}


def test_a_working_tree_removed_while_the_index_is_opened_is_named(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(FILES)
    index(repo)
    workspace = open_workspace(repo.path, {})

    class RemovingReader(TreeReader):
        def read(self) -> SelectedTree:
            tree = super().read()
            repo.path.rename(tmp_path / "elsewhere")
            return tree

    named = pytest.raises(GitFailed, match=r"the folder `.*repo` no longer exists")
    with RemovingReader(workspace.location, WORKING_TREE) as reader, named:
        open_searcher(workspace, WORKING_TREE, reader=reader)
