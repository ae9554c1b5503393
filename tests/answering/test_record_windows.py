"""Records match by passages, are shown as windows, and do not displace code from the results."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.chunking.chunk_size import MAX_PASSAGES, PASSAGE_BYTES
from gitmem.chunking.record_passages import record_chunks, record_windows
from gitmem.memory.document import Document, DocumentFields, document_record
from gitmem.memory.kinds import kind_of
from gitmem.record import Record, format_record
from gitmem.records.conversations import append_turn
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note
from gitmem.search.candidate_rows import CANDIDATE_LIMIT
from gitmem.search.fuse import RRF_K
from gitmem.types import DOCUMENT, NOTE, TURN
from tests.gitrepo import Repo
from tests.indexes import index, python_file, search, snapshot_of, workspace_of

RECORDS = ("documents", "notes", "conversations")


@pytest.fixture
def repo(tmp_path: Path, fake_model: object) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"src/a.py": python_file("harvest_apples"), "src/b.py": python_file("count_pears")})
    index(repo)
    return repo


def sections(count: int, word: str) -> str:
    """Return a text of `count` sections; the middle one contains `word`."""
    texts = [f"## Part {number}\n\n" + f"filler{number % 7} text of the part. " * 12 for number in range(count)]
    texts[count // 2] += f"\n{word}\n"
    return "\n\n".join(texts)


def test_a_document_has_more_rows_than_windows_and_is_shown_as_a_window(repo: Repo) -> None:
    before = snapshot_of(repo).rows
    text = sections(60, "needle")
    document = add_document(workspace_of(repo), text, {"title": "Guide"}).document
    assert snapshot_of(repo).rows - before > 2 * len(document.chunks) > 2
    [(hit, lines)] = search(repo, "needle", kinds=("documents",)).hits
    windows = [text[start:end] for start, end in document.chunks if "needle" in text[start:end]]
    assert "\n".join(lines).rstrip("\n") in [piece.rstrip("\n") for piece in windows]
    assert hit.symbol.startswith("Guide > ")
    assert "Part 30" in hit.symbol


def test_a_long_turn_is_found_by_a_passage_and_shown_whole(repo: Repo) -> None:
    text = sections(20, "needle")
    before = snapshot_of(repo).rows
    append_turn(workspace_of(repo), "orchard", "user", text, 0)
    assert snapshot_of(repo).rows - before > 5
    [(hit, lines)] = search(repo, "needle", kinds=("conversations",)).hits
    assert "\n".join(lines) == text.rstrip("\n")
    assert hit.symbol == "orchard"


def test_a_note_of_any_length_is_one_row(repo: Repo) -> None:
    before = snapshot_of(repo).rows
    add_note(workspace_of(repo), sections(20, "needle"))
    assert snapshot_of(repo).rows == before + 1


def test_a_document_of_many_passages_does_not_displace_code(repo: Repo) -> None:
    text = "\n\n".join(
        f"## Apples {number}\n\nharvest apples " + "harvest apples dry " * 30 for number in range(3 * CANDIDATE_LIMIT)
    )
    add_document(workspace_of(repo), text, {})
    before = {hit.path for hit, _ in search(repo, "harvest apples", kinds=("code",)).hits}
    answer = search(repo, "harvest apples", kinds=("code", "documents"))
    assert {kind_of(hit.chunk_type) for hit, _ in answer.hits} == {"code", "documents"}
    assert {hit.path for hit, _ in answer.hits if kind_of(hit.chunk_type) == "code"} == before


def test_hits_of_all_kinds_are_in_one_list_by_score(repo: Repo) -> None:
    workspace = workspace_of(repo)
    add_note(workspace, "We harvest apples in October.")
    add_document(workspace, "Apples: harvest them dry.", {})
    append_turn(workspace, "orchard", "user", "When do we harvest apples?", 0)
    answer = search(repo, "harvest apples", kinds=("code", *RECORDS), limit=20)
    assert {kind_of(hit.chunk_type) for hit, _ in answer.hits} == {"code", *RECORDS}
    scores = [hit.score for hit, _ in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)


def test_reciprocal_rank_fusion_can_be_configured(repo: Repo) -> None:
    add_document(workspace_of(repo), "harvest apples", {})
    add_document(workspace_of(repo), "count pears", {})
    repo.git("config", "gitmem.fusion", "rrf")
    [hit, *_] = [hit for hit, _ in search(repo, "harvest apples", kinds=("documents",)).hits]
    assert hit.scores["fused"] == pytest.approx(60 * 2 / (RRF_K + 1), rel=1e-3)


def blob_of(kind: str, text: str, spans: list[tuple[int, int]] | None = None) -> tuple[bytes, Record]:
    if kind == DOCUMENT:
        document = Document("art_00000000", DocumentFields(), text, "", 0, "", tuple(spans or ()))
        record = document_record(document)
    else:
        record = Record(kind, "mem_0", {}, text.encode())
    return format_record(record), record


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([DOCUMENT, NOTE, TURN]),
    st.lists(
        st.sampled_from(["# One\n", "\n\n", "words and words ", "한국어 텍스트 ", "😀", "x" * 300, "```\n"]),
        max_size=60,
    ),
)
def test_passages_cover_all_visible_text_in_order(kind: str, parts: list[str]) -> None:
    text = "".join(parts)
    data, record = blob_of(kind, text)
    base = len(data) - len(record.content)
    chunks = record_chunks(data)
    at = base
    for chunk in chunks:
        assert base <= chunk.start < chunk.end <= len(data)
        assert not data[at : chunk.start].strip()
        assert chunk.start >= at
        data[chunk.start : chunk.end].decode()
        at = chunk.end
    assert not data[at:].strip()
    if kind == NOTE:
        assert len(chunks) == bool(text.strip())


def test_a_huge_document_has_a_bounded_number_of_passages() -> None:
    data, _ = blob_of(DOCUMENT, "word " * (PASSAGE_BYTES * MAX_PASSAGES // 2))
    assert len(record_chunks(data)) <= MAX_PASSAGES + 1


def test_windows_are_converted_from_characters_to_bytes() -> None:
    text = "é" * 10 + "한" * 10 + "x" * 10
    data, record = blob_of(DOCUMENT, text, [(0, 15), (10, 30)])
    assert [data[start:end].decode() for start, end in record_windows(data, record)] == [text[:15], text[10:30]]
