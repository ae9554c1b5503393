"""Lookup of files, lines, chunks and symbols in a tree; the error for an unknown location suggests existing ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.answering.location_lookup import FoundLocation, IndexedTree, find_location, get_chunk
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_text
from gitmem.locations import LineRange
from gitmem.store.view_file import INDEXED, ViewEntry, load_view
from tests.gitrepo import Repo
from tests.sample import open_sample


@pytest.fixture
def searcher(indexed: Repo) -> Searcher:
    """Open the sample repository."""
    return open_searcher(open_sample(indexed), WORKING_TREE)


@pytest.fixture
def reader(searcher: Searcher) -> Iterator[ObjectReader]:
    """Read the sample's blobs."""
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as object_reader:
        yield object_reader


def found(searcher: Searcher, text: str, folder: str = "") -> tuple[str, LineRange | None, str]:
    """Return path, lines and symbol of a location."""
    location = find_location(searcher.indexed_tree, text, folder)
    return path_text(searcher.view.path(location.entry)), location.lines, location.symbol


def test_files_and_lines_are_found_from_the_root_and_from_a_folder(searcher: Searcher) -> None:
    assert found(searcher, "src/cookies.py") == ("src/cookies.py", None, "")
    assert found(searcher, "./src/cookies.py:7") == ("src/cookies.py", LineRange(7, 7), "")
    assert found(searcher, "cookies.py:7-9", "src") == ("src/cookies.py", LineRange(7, 9), "")


def test_symbols_are_found_by_full_name_or_last_component(searcher: Searcher) -> None:
    for symbol in (
        "CookieSession.sign_cookie",
        "sign_cookie",
        "CookieSession::sign_cookie",
        "CookieSession#sign_cookie",
    ):
        path, lines, name = found(searcher, f"src/cookies.py#{symbol}")
        assert (path, name) == ("src/cookies.py", "CookieSession.sign_cookie")
        assert lines is not None
        assert lines.first <= 7 < lines.last
    assert found(searcher, "src/routing.ts#Router") == ("src/routing.ts", LineRange(6, 11), "Router")


def test_chunks_are_found_by_the_id_of_their_blob_or_their_path(searcher: Searcher, indexed: Repo) -> None:
    oid = indexed.oid("HEAD:src/routing.ts")
    for blob in (oid, oid[:7], oid[:8], "src/routing.ts:chunk_"):
        colon = "" if blob.endswith("_") else ":"
        chunks = [found(searcher, f"{blob}{colon}{number}") for number in range(2)]
        assert {path for path, _, _ in chunks} == {"src/routing.ts"}
        assert all(lines is not None for _, lines, _ in chunks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py", "no such file in this tree: `nowhere.py`"),
        ("cookies.py:7", "no such file in this tree: `cookies.py`"),
        ("src/cookies.py:0", "line number out of range"),
        ("src/cookies.py#sign_cokie", "no symbol `sign_cokie` in `src/cookies.py`"),
        ("logo.png#x", "`logo.png` is not indexed"),
        ("0000000:0", "no blob of this tree begins with `0000000`"),
        ("0" * 64 + ":0", "no blob of this tree begins with"),
        ("src/routing.ts:chunk_99", "chunks, chunk 99 does not exist"),
        ("BLOB:99", "chunks, chunk 99 does not exist"),
    ],
)
def test_a_location_that_does_not_exist_is_rejected(searcher: Searcher, indexed: Repo, text: str, message: str) -> None:
    text = text.replace("BLOB", indexed.oid("HEAD:src/cookies.py"))
    with pytest.raises(UsageError) as raised:
        find_location(searcher.indexed_tree, text)
    assert message in raised.value.message


def test_the_innermost_chunk_contains_the_line(searcher: Searcher, reader: ObjectReader) -> None:
    tree = searcher.indexed_tree
    assert get_chunk(tree, reader, "src/cookies.py:7-9") == get_chunk(tree, reader, "src/cookies.py#sign_cookie")
    with pytest.raises(UsageError, match="line 999 does not exist"):
        get_chunk(tree, reader, "src/cookies.py:999")
    with pytest.raises(UsageError, match="is a whole file"):
        get_chunk(tree, reader, "src/cookies.py")


def test_an_ambiguous_blob_prefix_is_rejected() -> None:
    # Real blobs with a common prefix this long cannot be constructed.
    entries = [ViewEntry(path, bytes.fromhex("ab" * 4) + path * 16, "Python", INDEXED) for path in (b"a", b"b")]
    tree = IndexedTree(load_view(Path("views/made"), "", entries), None, len(entries))
    with pytest.raises(UsageError, match=r"^2 blobs of this tree begin with `abababa`"):
        find_location(tree, "abababa:0")


def test_copies_of_a_file_are_not_ambiguous(searcher: Searcher, indexed: Repo) -> None:
    oid = indexed.oid("HEAD:src/cookies.py")
    assert oid == indexed.oid("HEAD:src/copy_of_cookies.py")
    assert isinstance(find_location(searcher.indexed_tree, f"{oid}:0"), FoundLocation)
