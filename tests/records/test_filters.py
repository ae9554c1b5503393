"""Filters of records in searches and lists, which read no records that do not match."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.answering.hit_text import named_hit
from gitmem.errors import UsageError
from gitmem.git.batch import ProgramReader
from gitmem.indexing.record_views import EditedRecords, RecordsView, open_records, record_values
from gitmem.memory.record_paths import REFERENCE
from gitmem.records.conversations import append_turn, list_conversations
from gitmem.records.documents import add_document, list_documents
from gitmem.records.filters import NO_FILTERS, RecordFilters, matching_records, parse_filters
from gitmem.records.notes import add_note, list_notes
from gitmem.records.revisions import delete_records
from gitmem.store.record_columns import RECORD_COLUMNS, Column
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index, python_file, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")
RECORDS = ("documents", "notes", "conversations")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": python_file("harvest_apples")})
    index(repo)
    return repo


def matches(repo: Repo, kinds: tuple[str, ...] = RECORDS, **filters: Any) -> set[str]:
    answer = search(repo, "apples", kinds=kinds, limit=4, records=parse_filters(**filters))
    return {named_hit(hit).path for hit, _ in answer.hits}


def test_each_filter_is_applied_before_ranking(repo: Repo) -> None:
    workspace = workspace_of(repo)
    certain = add_note(workspace, "apples are red", type_="decision", confidence=0.9, conversation="orchard").note.id
    uncertain = add_note(workspace, "apples are blue", confidence=0.2).note.id
    append_turn(workspace, "orchard", "user", "apples?", 0)
    turn = "conversation:orchard 0"
    mail = {"type": "email", "source": "imap", "source_id": "1", "time": "2026-03-01T10:00:00Z"}
    old = add_document(workspace, "apples by mail", {**mail, "sensitivity": "sensitive"}).document.id
    page = add_document(workspace, "apples on a page", {"visibility": "team", "time": "2026-05-01"}).document.id
    for number in range(12):
        add_document(workspace, f"apples apples apples {number}", {})

    assert matches(repo, type_=["decision"]) == {certain}
    assert matches(repo, type_=["decision", "email"]) == {certain, old}
    assert matches(repo, source=["imap"]) == {old}
    assert matches(repo, sensitivity=["sensitive", "highly_sensitive"]) == {old}
    assert matches(repo, visibility=["team"]) == {page, certain, uncertain}
    assert matches(repo, ("documents",), visibility=["team"]) == {page}
    assert matches(repo, ("conversations", "notes"), visibility=["me"]) == {turn}
    assert matches(repo, conversation=["orchard"]) == {certain, turn}
    assert matches(repo, ("notes",), min_confidence=0.2) == {certain, uncertain}
    assert matches(repo, min_confidence=0.21) == {certain}
    assert matches(repo, since="2026-03-01T10:00:00Z", until="2026-05-01") == {old, page}
    assert matches(repo, until="2026-03-01") == {old}
    assert matches(repo, until="2026-03-01T09:59:59Z") == set()
    assert matches(repo, ("code", *RECORDS), type_=["decision"]) == {certain}
    assert matches(repo, type_=["decision"], source=["imap"]) == set()


def test_invalid_filters_are_refused(repo: Repo) -> None:
    for invalid in ({"type_": ["poem"]}, {"sensitivity": ["low"]}, {"visibility": ["all"]}, {"since": "soon"},
                  {"until": "soon"}, {"min_confidence": 1.5}):  # fmt: skip
        with pytest.raises(UsageError):
            parse_filters(**invalid)
    for options in ({"kinds": ("code",)}, {"rev": "HEAD"}):
        with pytest.raises(UsageError, match="do not apply to code"):
            search(repo, "apples", records=RecordFilters(type=("email",)), **options)
    assert parse_filters() == NO_FILTERS


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["fact", "decision", ""]), st.sampled_from(["a", "b", ""]),
                          st.sampled_from(["0.1", "0.7", "x", ""]), st.sampled_from(["2025", "2026", "2027"]))),
       st.sets(st.sampled_from(["fact", "decision"])), st.sets(st.sampled_from(["a", "b"])),
       st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from(["", "2026"]), st.sampled_from(["", "2026"]))  # fmt: skip
def test_filters_match_like_a_plain_loop(
    records: list[tuple[str, str, str, str]], types: set[str], sources: set[str], minimum: float, since: str, until: str
) -> None:
    class Columns:
        def __len__(self) -> int:
            return len(records)

        def column(self, name: str) -> Column:
            return Column.from_texts(
                [record[("type", "source", "confidence", "time").index(name)] for record in records]
            )

    def matching(record: tuple[str, str, str, str]) -> bool:
        confidence = float(record[2]) if record[2] not in ("", "x") else -1.0
        return (
            (not types or record[0] in types)
            and (not sources or record[1] in sources)
            and (not minimum or confidence >= minimum)
            and (since or "0") <= record[3] <= (until or "9")
        )

    filters = RecordFilters(type=tuple(types), source=tuple(sources), since=since, until=until, min_confidence=minimum)
    assert matching_records(Columns(), filters).tolist() == [matching(record) for record in records]  # type: ignore[arg-type]


class CountingReader(ProgramReader):
    """Reader that counts the requested objects."""

    read_objects = 0

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        requested = list(oids)
        CountingReader.read_objects += len(requested)
        return super().read_many(requested)


def test_a_list_reads_only_the_records_it_shows(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = workspace_of(repo)
    notes = [add_note(workspace, f"note {number}", type_=("fact", "decision")[number % 2]).note for number in range(12)]
    for number in range(6):
        append_turn(workspace, f"talk {number % 3}", "user", f"turn {number}", number // 3)
    documents = [add_document(workspace, f"text {number}", {"type": "email"}).document for number in range(4)]
    search(repo, "note", kinds=RECORDS)
    monkeypatch.setattr("gitmem.memory.record_store.ProgramReader", CountingReader)
    monkeypatch.setattr("gitmem.indexing.record_views.ProgramReader", CountingReader)

    assert list_notes(workspace, limit=3) == notes[:-4:-1]
    assert list_notes(workspace, type_="decision", limit=2) == [notes[11], notes[9]]
    assert list_documents(workspace, limit=2) == documents[:1:-1]
    assert CountingReader.read_objects == 7
    conversations = list_conversations(workspace, 2)
    assert [(each.id, each.turns) for each in conversations] == [("talk 2", 2), ("talk 1", 2)]
    assert CountingReader.read_objects == 7


def test_lists_are_the_same_without_an_index_and_with_a_damaged_one(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": python_file("harvest_apples")})
    workspace = workspace_of(repo)
    notes = [add_note(workspace, f"note {number}").note for number in range(5)]
    assert list_notes(workspace) == notes[::-1]
    assert not workspace.paths.root.exists()
    index(repo, uncommitted=True)
    file = workspace.paths.records
    sound = file.read_bytes()
    assert list_notes(workspace) == notes[::-1]
    place = sound.rindex(notes[0].time[:10].encode())
    file.write_bytes(sound[:place] + b"1" + sound[place + 1 :])
    assert list_notes(workspace) == notes[::-1]
    assert file.read_bytes() == sound
    (workspace.paths.root / "gitmem-made-here").write_text("another")
    assert list_notes(workspace) == notes[::-1]


def test_a_query_rebuilds_a_damaged_view_of_records(repo: Repo) -> None:
    workspace = workspace_of(repo)
    note = add_note(workspace, "apples", type_="decision").note
    search(repo, "apples", kinds=("notes",))
    file = workspace.paths.records
    sound = file.read_bytes()
    place = sound.index(b'["decision"]')
    file.write_bytes(sound[:place] + b"X" + sound[place + 1 :])
    assert matches(repo, type_=["decision"]) == {note.id}
    assert file.read_bytes() == sound


def test_columns_are_the_same_for_every_way_of_building_the_view(repo: Repo, tmp_path: Path) -> None:
    workspace, file = workspace_of(repo), tmp_path / "records"
    first = add_note(workspace, "apples", type_="decision", conversation="x", confidence=0.5).note
    append_turn(workspace, "orchard", "user", "apples?", 0)
    add_document(workspace, "apples", {"time": "2026-01-01"})
    open_records(workspace.location, file, repo.oid(f"{REFERENCE}^{{tree}}"), keep=True)
    delete_records(workspace, [first.id])
    add_note(workspace, "pears", type_="project")
    tree = repo.oid(f"{REFERENCE}^{{tree}}")
    edited = open_records(workspace.location, file, tree, keep=True, records_per_edit=1)
    without_file = open_records(workspace.location, None, tree, keep=False)
    rewritten = open_records(workspace.location, file, tree, keep=True)
    reopened = open_records(workspace.location, file, tree, keep=True)
    assert [type(view) for view in (edited, rewritten, reopened)] == [EditedRecords, RecordsView, RecordsView]
    assert reopened.tree == tree
    columns = [
        [tuple(view.column(name).text(entry) for name in RECORD_COLUMNS) for entry in range(len(view))]
        for view in (edited, without_file, rewritten, reopened)
    ]
    assert columns[0] == columns[1] == columns[2] == columns[3]
    blobs = [repo.git_bytes("cat-file", "blob", rewritten.oid(entry)) for entry in range(len(rewritten))]
    assert columns[0] == [record_values(data) for data in blobs]


def test_a_blob_that_is_not_a_record_has_empty_columns() -> None:
    assert set(record_values(b"no record")) == {""}


def test_hits_of_records_have_their_fields(repo: Repo, fake_model: type[InlinePool]) -> None:
    from gitmem.answering.answer_json import answer_json

    note = add_note(workspace_of(repo), "apples are harvested", type_="decision").note
    answer = search(repo, "harvest apples", kinds=("code", "notes"))
    fields = {hit["kind"]: hit["record"] for hit in answer_json(answer, [None] * len(answer.hits))["results"]}
    assert fields["code"] is None
    assert fields["notes"].pop("state")["marks"] == []
    assert fields["notes"] == {"id": note.id, "type": "decision", "confidence": 1.0, "time": note.time}
