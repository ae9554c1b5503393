"""Notes, documents and conversations are searched together with the code."""

from pathlib import Path

import pytest

from gitmem.answering.answer import Answer
from gitmem.answering.hit_text import named_hit
from gitmem.answering.searcher import open_searcher
from gitmem.errors import UsageError
from gitmem.indexing.joined_view import JoinedView
from gitmem.indexing.record_views import PREFIX, open_records
from gitmem.memory.conversation import Turn
from gitmem.memory.kinds import kind_of
from gitmem.memory.record_paths import NOTES, REFERENCE
from gitmem.records.conversations import append_turn, import_turns
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from gitmem.store.view_file import View
from tests.gitrepo import Repo
from tests.indexes import InlinePool, files_in, index, python_file, search, snapshot_of, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")
EVERYTHING = ("code", "documents", "notes", "conversations")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"src/a.py": python_file("harvest_apples"), "src/b.py": python_file("count_pears")})
    index(repo)
    return repo


def hit_names(answer: Answer) -> set[tuple[str, str]]:
    return {(kind_of(hit.chunk_type), named_hit(hit).path) for hit, _ in answer.hits}


def remember(repo: Repo) -> dict[str, str]:
    """Add one record of each kind about apples; return their names by kind."""
    workspace = workspace_of(repo)
    append_turn(workspace, "orchard", "user", "When do we harvest apples?", 3)
    document = add_document(workspace, "intro\n\nApples: harvest them dry.\n", {"title": "Orchard"}).document
    return {
        "notes": add_note(workspace, "We harvest apples in October.").note.id,
        "documents": document.id,
        "conversations": "conversation:orchard 3",
    }


def test_new_records_are_searchable_at_once(repo: Repo) -> None:
    names = remember(repo)
    everything = {*names.items(), ("code", "src/a.py")}
    assert hit_names(search(repo, "harvest apples", kinds=EVERYTHING)) >= everything
    assert hit_names(search(repo, "harvest apples")) == {("code", "src/a.py"), ("documents", names["documents"])} | {
        hit for hit in hit_names(search(repo, "harvest apples")) if hit[0] == "code"
    }
    for kind, name in names.items():
        assert hit_names(search(repo, "harvest apples", kinds=(kind,))) == {(kind, name)}


def test_a_search_of_records_alone_has_no_floor(repo: Repo) -> None:
    names = remember(repo)
    text = "chocolate cake recipe"
    assert not search(repo, text).hits
    for kind in ("notes", "conversations"):
        assert hit_names(search(repo, text, kinds=(kind,))) == {(kind, names[kind])}


def test_the_answer_to_a_turn_is_found_by_the_words_of_the_turn(repo: Repo) -> None:
    workspace = workspace_of(repo)
    said = [f"Subject {number}." for number in range(20)]
    said[7:9] = ["When do we harvest apples?", "Not before October."]
    for number, text in enumerate(said):
        append_turn(workspace, "orchard", "user", text, number)
    append_turn(workspace, "later", "user", "Tomorrow.", 0)
    found = search(repo, "harvest apples", kinds=("conversations",)).hits
    assert [named_hit(hit).path for hit, _ in found][:2] == ["conversation:orchard 7", "conversation:orchard 8"]
    assert found[1][0].scores["adjacent"] > 0


def test_a_turn_counts_more_in_the_conversation_that_is_asked_about(repo: Repo) -> None:
    workspace = workspace_of(repo)
    for name, subject in (("garden", "Frost in the vineyard worries everybody."), ("office", "The printer is empty.")):
        append_turn(workspace, name, "user", subject, 0)
        for number in range(4):
            append_turn(workspace, name, "assistant", f"Unrelated remark {number} about {name}s.", number + 1)
        append_turn(workspace, name, "user", "We meet on Tuesday.", 5)
    for kinds in (("conversations",), EVERYTHING):
        hits = search(repo, "frost vineyard: when do they meet", kinds=kinds).hits
        meetings = [named_hit(hit).path for hit, lines in hits if lines == ["We meet on Tuesday."]]
        assert meetings == ["conversation:garden 5", "conversation:office 5"]
    scores = [hit.scores for hit, lines in hits if lines == ["We meet on Tuesday."]]
    assert scores[0]["conversation"] > 0 > scores[1]["conversation"]
    assert scores[0].get("conversation_gap", 0.0) < scores[1]["conversation_gap"]


def test_a_date_in_the_query_is_that_of_a_conversation(repo: Repo) -> None:
    times = {"spring": "2026-03-09T10:00:00Z", "autumn": "2025-10-02T10:00:00Z", "winter": "2026-01-31T10:00:00Z"}
    turns = [Turn(name, 0, "user", "We meet on Tuesday.", time) for name, time in times.items()]
    import_turns(workspace_of(repo), turns)
    for date, name in (("in March", "spring"), ("on 2 October 2025", "autumn"), ("in 2026-01", "winter")):
        found = search(repo, f"when do we meet {date}", kinds=("conversations",)).hits
        assert named_hit(found[0][0]).path == f"conversation:{name} 0"
        assert [hit.scores["conversation"] > 0 for hit, _ in found] == [True, False, False]


def test_the_lines_of_a_hit_are_counted_in_the_content(repo: Repo) -> None:
    remember(repo)
    [(hit, lines)] = search(repo, "harvest apples", kinds=("documents",)).hits
    assert lines == ["intro", "", "Apples: harvest them dry."]
    assert (named_hit(hit).start_line, named_hit(hit).end_line) == (1, 3)
    assert hit.symbol == "Orchard"


def test_a_deleted_record_is_no_longer_found(repo: Repo) -> None:
    names = remember(repo)
    search(repo, "apples", kinds=EVERYTHING)
    delete_records(workspace_of(repo), [names["notes"], "conversation:orchard"])
    assert hit_names(search(repo, "apples", kinds=("notes", "conversations", "documents"))) == {
        ("documents", names["documents"])
    }


def test_a_changed_document_is_found_by_its_new_text(repo: Repo) -> None:
    workspace = workspace_of(repo)
    source = {"source": "s", "source_id": "1"}
    add_document(workspace, "plums and cherries", source)
    assert search(repo, "cherries", kinds=("documents",)).hits
    add_document(workspace, "only quinces", source)
    hits = search(repo, "quinces", kinds=("documents",)).hits
    assert [lines for _, lines in hits] == [["only quinces"]]


def test_a_long_document_is_one_hit_with_its_best_chunk(repo: Repo) -> None:
    words = [f"filler{number % 50}" for number in range(4000)]
    words[2500] = "needle"
    text = "\n".join(" ".join(words[at : at + 10]) for at in range(0, 4000, 10))
    document = add_document(workspace_of(repo), text, {})
    assert len(document.chunk_ids) > 3
    for query in ("needle", "filler7 filler8 filler9"):
        assert len(search(repo, query, kinds=("documents",), limit=5).hits) == 1
    [(hit, lines)] = search(repo, "needle", kinds=("documents",)).hits
    assert any("needle" in line for line in lines)
    assert len(lines) < 300
    assert hit.chunk_type == "document"


def test_a_search_of_a_revision_covers_only_code_by_default(repo: Repo) -> None:
    remember(repo)
    assert {kind for kind, _ in hit_names(search(repo, "harvest apples", rev="HEAD"))} == {"code"}
    assert {kind for kind, _ in hit_names(search(repo, "harvest apples", rev="HEAD", kinds=("notes",)))} == {"notes"}
    with pytest.raises(UsageError):
        search(repo, "apples", changed="HEAD..HEAD", kinds=("notes",))
    with pytest.raises(UsageError):
        search(repo, "apples", kinds=("poems",))


def test_without_records_only_code_is_found(repo: Repo) -> None:
    assert search(repo, "harvest apples").hits
    assert search(repo, "harvest apples", kinds=("notes",)).hits == []


def test_a_deleted_index_is_rebuilt_from_the_ref(repo: Repo, fake_model: type[InlinePool]) -> None:
    names = remember(repo)
    search(repo, "apples", kinds=EVERYTHING)
    before = snapshot_of(repo).rows
    workspace = workspace_of(repo)
    for file in files_in(workspace.paths.segments):
        file.unlink()
    workspace.paths.manifest.unlink()
    index(repo, uncommitted=True)
    fake_model.digested = 0
    assert hit_names(search(repo, "harvest apples", kinds=("notes",))) == {("notes", names["notes"])}
    assert fake_model.digested == 0
    assert snapshot_of(repo).rows == before


def test_a_searcher_is_not_current_after_a_change_of_the_memory(repo: Repo) -> None:
    from gitmem.freshness.tree_selection import WORKING_TREE

    searcher = open_searcher(workspace_of(repo), WORKING_TREE)
    assert searcher.is_current()
    remember(repo)
    assert not searcher.is_current()


CANARY = "zyxwvut"


def test_a_purge_removes_the_words_from_the_index(repo: Repo) -> None:
    workspace = workspace_of(repo)
    kept_note = add_note(workspace, "kept apples").note
    deleted_note = add_note(workspace, f"{CANARY} sings").note
    assert search(repo, CANARY, kinds=("notes",)).hits
    assert CANARY in indexed_words(repo)
    delete_records(workspace, [deleted_note.id])
    assert CANARY in indexed_words(repo)
    assert purge_memory(workspace).chunks == 1
    assert CANARY not in indexed_words(repo)
    assert len(files_in(workspace.paths.segments)) == len(snapshot_of(repo).manifest.segments)
    assert (("notes", kept_note.id)) in hit_names(search(repo, "kept apples", kinds=("notes",)))
    assert search(repo, "harvest apples").hits


def indexed_words(repo: Repo) -> set[str]:
    """Return every word of every segment, decoded."""
    words: set[str] = set()
    for segment in snapshot_of(repo).segments:
        for postings in segment.load_rows().postings.values():
            words.update(term.decode() for term in postings.terms)
    return words


def test_a_derived_view_equals_one_built_from_the_tree(repo: Repo, tmp_path: Path) -> None:
    workspace = workspace_of(repo)
    file = tmp_path / "records"
    names = remember(repo)
    first = open_records(workspace.location, file, repo.oid(f"{REFERENCE}^{{tree}}"), keep=True)
    assert file.exists()
    delete_records(workspace, [names["notes"]])
    add_note(workspace, "new")
    tree = repo.oid(f"{REFERENCE}^{{tree}}")
    derived = open_records(workspace.location, file, tree, keep=True, records_per_edit=1)
    rebuilt = open_records(workspace.location, file, tree, keep=True)
    assert type(derived) is not type(rebuilt)
    assert derived.paths == rebuilt.paths != first.paths
    assert (derived.oids == rebuilt.oids).all()
    assert all(path.startswith(PREFIX) for path in rebuilt.paths)
    assert derived.find_postings("folder", b"notes") is None
    assert open_records(workspace.location, file, tree, keep=False).paths == rebuilt.paths


def test_a_joined_view_has_the_paths_of_both(repo: Repo) -> None:
    from gitmem.indexing.views import peek_view

    remember(repo)
    workspace = workspace_of(repo)
    code: View = peek_view(workspace.location, workspace.paths, repo.oid("HEAD^{tree}"))
    memory = open_records(workspace.location, workspace.paths.records, repo.oid(f"{REFERENCE}^{{tree}}"), keep=False)
    joined = JoinedView(code, memory)
    assert joined.paths == [*code.paths, *memory.paths] == [joined.path(entry) for entry in range(len(joined))]
    assert [joined.language(entry) for entry in range(len(joined))] == ["python", "python", *["record"] * 3]
    assert joined.keys.tolist() == [*code.keys.tolist(), *memory.keys.tolist()]
    assert joined.below([NOTES]).tolist() == [path.startswith(PREFIX + NOTES) for path in joined.paths]
