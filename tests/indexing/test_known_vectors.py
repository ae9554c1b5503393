"""Vectors are used again by the hash of their chunk, and the rows are the same as without."""

from pathlib import Path

import pytest

from gitmem.indexing import fingerprint
from gitmem.indexing.content_hash import content_hash
from gitmem.indexing.word_finder import encoding_of
from tests.faults.oracle import differences, from_scratch
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, InlinePool, index, python_file

FUNCTIONS = [f"load_{number}" for number in range(8)]


@pytest.fixture
def indexed(repo: Repo, fake_model: type[InlinePool]) -> Repo:
    """Return a repository with an index of a file with several chunks."""
    repo.commit({"a.py": python_file(*FUNCTIONS)})
    index(repo)
    return repo


def count_embedded(repo: Repo) -> int:
    """Index HEAD; return the number of texts that were embedded."""
    before = HashEncoder.encoded
    index(repo)
    return HashEncoder.encoded - before


def test_of_a_changed_file_only_changed_chunks_are_embedded(indexed: Repo, tmp_path: Path) -> None:
    indexed.commit({"a.py": python_file(*FUNCTIONS[:4], "changed", *FUNCTIONS[4:])})
    assert 0 < count_embedded(indexed) <= 2
    assert not differences(indexed, from_scratch(indexed, tmp_path / "fresh"))


def test_a_chunk_that_moves_to_another_file_is_not_embedded_again(indexed: Repo, tmp_path: Path) -> None:
    indexed.commit({"b.py": python_file(*reversed(FUNCTIONS))})
    assert count_embedded(indexed) <= 1
    assert not differences(indexed, from_scratch(indexed, tmp_path / "fresh"))


def test_a_full_run_embeds_every_content_once(indexed: Repo) -> None:
    indexed.commit({"b.py": python_file(*reversed(FUNCTIONS))})
    before = HashEncoder.encoded
    index(indexed, full=True)
    assert HashEncoder.encoded - before >= len(FUNCTIONS)


def test_other_rules_for_secrets_embed_only_the_texts_they_change(
    indexed: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint, "SECRETS_VERSION", "of-another-release")
    assert count_embedded(indexed) == 0
    assert not differences(indexed, from_scratch(indexed, tmp_path / "fresh"))
    monkeypatch.setattr(fingerprint, "WORDS_VERSION", 99)  # then vectors are others
    assert count_embedded(indexed) >= len(FUNCTIONS)


def test_a_damaged_segment_costs_the_reuse_only(indexed: Repo, tmp_path: Path) -> None:
    (segment,) = (indexed.path / ".gitmem/segments").iterdir()
    segment.write_bytes(b"damaged")
    indexed.commit({"b.py": python_file(*FUNCTIONS, "more")})
    index(indexed)
    assert not differences(indexed, from_scratch(indexed, tmp_path / "fresh"))


def test_symbol_and_text_are_told_apart() -> None:
    assert content_hash(b"ab", b"c", [(0, 1)], "utf-8") != content_hash(b"a", b"bc", [(0, 2)], "utf-8")
    assert len(content_hash(b"", b"", [], "utf-8")) == 16


def test_the_hash_is_that_of_the_text_in_any_encoding() -> None:
    latin, text = "caf\xe9".encode("latin-1"), "caf\xe9".encode()
    assert content_hash(b"", latin, [(0, 4)], encoding_of(latin)) == content_hash(b"", text, [(0, 5)], "utf-8")
    assert encoding_of(text) == "utf-8"
