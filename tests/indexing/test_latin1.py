"""Texts in Latin-1, or with a byte order mark, have the names, usages and histories of the same texts in UTF-8."""

import pytest

from gitmem.words import utf8_text
from tests.gitrepo import MakeRepo
from tests.indexes import brief_hits, index, search
from tests.sample import Cli

CODE = """\
def größe(länge):
    return länge * 2


def doppelte_größe(länge):
    return größe(länge) * 2
"""
TEXT = "# Über Größen\n\nText.\n"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
def test_names_are_whole_in_each_encoding(cli: Cli, make_repo: MakeRepo, encoding: str) -> None:
    repo = make_repo()
    repo.commit({"size.py": CODE.encode(encoding), "sizes.md": TEXT.encode(encoding)})
    index(repo)
    found = {(path, start, end, symbol) for path, start, end, symbol, _ in brief_hits(search(repo, "größe"))}
    expected = {("size.py", 1, 2, "größe"), ("size.py", 5, 6, "doppelte_größe"), ("sizes.md", 1, 3, "Über Größen")}
    assert found == expected
    usages = cli("usages", "größe", cwd=repo.path).out
    assert "  size.py:6  doppelte_größe  return größe(länge) * 2\n" in usages
    assert cli("get", "size.py#doppelte_größe").out == CODE.partition("\n\n\n")[2]
    assert cli("when", "size.py#größe").out.startswith("size.py:1-2  größe  1 commit")


def test_rows_beyond_the_size_of_the_blob_are_sound(cli: Cli, make_repo: MakeRepo) -> None:
    # In UTF-8 the text is longer than the blob, and so is the place of its last row.
    repo = make_repo()
    repo.commit({"size.py": CODE.encode("latin-1")})
    index(repo)
    assert cli("verify", cwd=repo.path).code == 0


def test_only_invalid_utf_8_is_converted() -> None:
    for text in (b"plain", b"", "größe".encode()):
        assert utf8_text(text) is text
    assert utf8_text(b"gr\xf6\xdfe\n\xff") == "größe\nÿ".encode()


def test_a_byte_order_mark_is_no_text() -> None:
    for text in ("größe", "size", ""):
        assert utf8_text(text.encode("utf-8-sig")) == text.encode()
