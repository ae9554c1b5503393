"""Encoding of records, their ids and paths."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import DamagedFile, NewerFormat, UsageError
from gitmem.memory.record_paths import document_ids, new_note_id, parse_id, turn_path
from gitmem.record import Record, format_record, is_record, parse_record
from gitmem.types import NOTE, RECORD_KINDS

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FIELDS = st.dictionaries(
    TEXT.filter(lambda name: name not in ("v", "kind", "id")),
    st.one_of(TEXT, st.integers(), st.floats(allow_nan=False), st.booleans(), st.lists(TEXT)),
)


@given(kind=st.sampled_from(RECORD_KINDS), identity=TEXT, fields=FIELDS, content=TEXT)
def test_an_encoded_record_decodes_to_itself(kind: str, identity: str, fields: dict[str, object], content: str) -> None:
    record = Record(kind, identity, fields, content.encode())
    data = format_record(record)
    assert parse_record(data, "x") == record
    assert data.endswith(b"\n\n" + content.encode())
    assert is_record(data)


@given(st.binary())
def test_other_bytes_are_not_a_record(data: bytes) -> None:
    with pytest.raises(DamagedFile):
        parse_record(data, "x")
    assert not is_record(data)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{}\n\n", b'{"v": 1}\n\n', b'{"v": 0, "kind": "note", "id": "a"}\n\n', b"[1]\n\nx",
        b'{"v": true, "kind": "note", "id": "a"}\n\n', b'{"v": 1, "kind": "note", "id": 1}\n\n',
        b'{"v": 1, "kind": "other", "id": "a"}\n\n', b'{"v": 1, "kind": "note", "id": "a"}',
        b'{"v": 1, "kind": "note", "id": "a"}\n\n\xff', b"[" * 100_000,
    ],
)  # fmt: skip
def test_errors_name_the_damaged_record(data: bytes) -> None:
    with pytest.raises(DamagedFile, match="`that`"):
        parse_record(data, "that")


def test_a_record_of_a_newer_version_is_refused() -> None:
    with pytest.raises(NewerFormat):
        parse_record(b'{"v": 2, "kind": "poem"}\n\nx', "x")


def test_the_header_is_one_line_of_json() -> None:
    data = format_record(Record(NOTE, "mem_1", {"type": "fact"}, "ü\n\nb".encode()))
    assert data.decode() == '{"v": 1, "kind": "note", "id": "mem_1", "type": "fact"}\n\nü\n\nb'


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100), st.integers(0, 99_999_999))
def test_ids_of_conversations_never_become_paths(conversation: str, turn: int) -> None:
    path = turn_path(conversation, turn)
    digest = hashlib.sha256(conversation.encode()).hexdigest()
    assert path == f"v1/conversations/{digest[:2]}/{digest}/{turn:08d}".encode()
    assert parse_id("conversation:" + conversation) + b"/%08d" % turn == path


@pytest.mark.parametrize("name", ["", "mem_", "mem_0123456789ag", "art_1234567", "x", "conversation:", "mem_/../../x"])
def test_an_invalid_id_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        parse_id(name)


def test_paths_of_ids() -> None:
    assert parse_id("mem_0123456789ab") == b"v1/notes/01/mem_0123456789ab"
    assert parse_id("art_89abcdef") == b"v1/documents/89/art_89abcdef"
    assert parse_id(new_note_id()).startswith(b"v1/notes/")


def test_ids_of_a_document_grow_by_four_digits() -> None:
    digest = hashlib.sha256(b"mail:7").hexdigest()
    ids = list(document_ids("mail", "7", b"x"))
    assert ids[:-1] == ["art_" + digest[:length] for length in range(8, 65, 4)]
    assert ids[:3] == list(document_ids("mail", "7", b"y"))[:3]
    assert list(document_ids("a:b", "c", b""))[-1] != list(document_ids("a", "b:c", b""))[-1]
    assert next(document_ids("manual", "", b"x")) == "art_" + hashlib.sha256(b"x").hexdigest()[:8]
