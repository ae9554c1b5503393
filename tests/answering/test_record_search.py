"""Notes, documents and conversations are searched together with the code."""

from pathlib import Path

import pytest

from gitmem.answering.answer import Answer
from gitmem.answering.hit_text import named_hit
from gitmem.answering.searcher import open_searcher
from gitmem.errors import UsageError
from gitmem.indexing import record_views as records
from gitmem.indexing.joined_view import JoinedView
from gitmem.indexing.record_views import PREFIX, open_records
from gitmem.memory.kinds import kind_of
from gitmem.memory.record_paths import NOTES, REFERENCE
from gitmem.records.conversations import append_turn
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


def told(made: Answer) -> set[tuple[str, str]]:
    return {(kind_of(hit.chunk_type), named_hit(hit).path) for hit, _ in made.hits}


def remember(repo: Repo) -> dict[str, str]:
    """One record of each kind about apples; their names by kind."""
    workspace = workspace_of(repo)
    append_turn(workspace, "orchard", "user", "When do we harvest apples?", 3)
    document = add_document(workspace, "intro\n\nApples: harvest them dry.\n", {"title": "Orchard"}).document
    return {
        "notes": add_note(workspace, "We harvest apples in October.").id,
        "documents": document.id,
        "conversations": "conversation:orchard 3",
    }


def test_what_was_just_told_is_found_at_once(repo: Repo) -> None:
    names = remember(repo)
    everything = {*names.items(), ("code", "src/a.py")}
    assert told(search(repo, "harvest apples", kinds=EVERYTHING)) >= everything
    assert told(search(repo, "harvest apples")) == {("code", "src/a.py"), ("documents", names["documents"])} | {
        found for found in told(search(repo, "harvest apples")) if found[0] == "code"
    }
    for kind, name in names.items():
        assert told(search(repo, "harvest apples", kinds=(kind,))) == {(kind, name)}


def test_a_hit_tells_lines_of_the_content(repo: Repo) -> None:
    remember(repo)
    [(hit, lines)] = search(repo, "harvest apples", kinds=("documents",)).hits
    assert lines == ["intro", "", "Apples: harvest them dry."]
    assert (named_hit(hit).start_line, named_hit(hit).end_line) == (1, 3)
    assert hit.symbol == "Orchard"


def test_a_deleted_record_is_found_no_more(repo: Repo) -> None:
    names = remember(repo)
    search(repo, "apples", kinds=EVERYTHING)
    delete_records(workspace_of(repo), [names["notes"], "conversation:orchard"])
    assert told(search(repo, "apples", kinds=("notes", "conversations", "documents"))) == {
        ("documents", names["documents"])
    }


def test_a_changed_document_is_found_by_what_it_says_now(repo: Repo) -> None:
    workspace = workspace_of(repo)
    source = {"source": "s", "source_id": "1"}
    add_document(workspace, "plums and cherries", source)
    assert search(repo, "cherries", kinds=("documents",)).hits
    add_document(workspace, "only quinces", source)
    found = search(repo, "quinces", kinds=("documents",)).hits
    assert [lines for _, lines in found] == [["only quinces"]]


def test_a_long_document_is_one_hit_with_its_best_chunk(repo: Repo) -> None:
    words = [f"filler{number % 50}" for number in range(4000)]
    words[2500] = "needle"
    text = "\n".join(" ".join(words[at : at + 10]) for at in range(0, 4000, 10))
    made = add_document(workspace_of(repo), text, {})
    assert len(made.chunk_ids) > 3
    for question in ("needle", "filler7 filler8 filler9"):
        assert len(search(repo, question, kinds=("documents",), limit=5).hits) == 1
    [(hit, lines)] = search(repo, "needle", kinds=("documents",)).hits
    assert any("needle" in line for line in lines)
    assert len(lines) < 300
    assert hit.chunk_type == "document"


def test_a_revision_is_asked_for_its_code_alone(repo: Repo) -> None:
    remember(repo)
    assert {kind for kind, _ in told(search(repo, "harvest apples", rev="HEAD"))} == {"code"}
    assert {kind for kind, _ in told(search(repo, "harvest apples", rev="HEAD", kinds=("notes",)))} == {"notes"}
    with pytest.raises(UsageError):
        search(repo, "apples", changed="HEAD..HEAD", kinds=("notes",))
    with pytest.raises(UsageError):
        search(repo, "apples", kinds=("poems",))


def test_without_records_only_code_is_there(repo: Repo) -> None:
    assert search(repo, "harvest apples").hits
    assert search(repo, "harvest apples", kinds=("notes",)).hits == []


def test_an_index_that_is_deleted_is_made_again_from_the_ref(repo: Repo, fake_model: type[InlinePool]) -> None:
    names = remember(repo)
    search(repo, "apples", kinds=EVERYTHING)
    before = snapshot_of(repo).rows
    workspace = workspace_of(repo)
    for file in files_in(workspace.paths.segments):
        file.unlink()
    workspace.paths.manifest.unlink()
    index(repo, uncommitted=True)
    fake_model.digested = 0
    assert told(search(repo, "harvest apples", kinds=("notes",))) == {("notes", names["notes"])}
    assert fake_model.digested == 0
    assert snapshot_of(repo).rows == before


def test_a_searcher_knows_when_the_memory_has_changed(repo: Repo) -> None:
    from gitmem.freshness.tree_selection import WORKING_TREE

    searcher = open_searcher(workspace_of(repo), WORKING_TREE)
    assert searcher.is_current()
    remember(repo)
    assert not searcher.is_current()


CANARY = "zyxwvut"


def test_a_purge_takes_the_words_out_of_the_index(repo: Repo) -> None:
    workspace = workspace_of(repo)
    kept = add_note(workspace, "kept apples")
    note = add_note(workspace, f"{CANARY} sings")
    assert search(repo, CANARY, kinds=("notes",)).hits
    assert CANARY in indexed_words(repo)
    delete_records(workspace, [note.id])
    assert CANARY in indexed_words(repo)
    assert purge_memory(workspace).chunks == 1
    assert CANARY not in indexed_words(repo)
    assert len(files_in(workspace.paths.segments)) == len(snapshot_of(repo).manifest.segments)
    assert (("notes", kept.id)) in told(search(repo, "kept apples", kinds=("notes",)))
    assert search(repo, "harvest apples").hits


def indexed_words(repo: Repo) -> set[str]:
    """Every word of every segment, decoded."""
    words: set[str] = set()
    for segment in snapshot_of(repo).segments:
        for postings in segment.load_rows().postings.values():
            words.update(term.decode() for term in postings.terms)
    return words


def test_a_view_made_from_another_is_that_made_from_the_tree(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_EDITS_SHARE", 1)
    workspace = workspace_of(repo)
    file = workspace.paths.records
    names = remember(repo)
    first = open_records(workspace.location, file, repo.oid(f"{REFERENCE}^{{tree}}"), keep=True)
    assert file.exists()
    delete_records(workspace, [names["notes"]])
    add_note(workspace, "new")
    tree = repo.oid(f"{REFERENCE}^{{tree}}")
    derived = open_records(workspace.location, file, tree, keep=True)
    monkeypatch.setattr(records, "_MOST_EDITS", 0)
    anew = open_records(workspace.location, file, tree, keep=True)
    assert type(derived) is not type(anew)
    assert derived.paths == anew.paths != first.paths
    assert (derived.oids == anew.oids).all()
    assert all(path.startswith(PREFIX) for path in anew.paths)
    assert derived.find_postings("folder", b"notes") is None
    assert open_records(workspace.location, file, tree, keep=False).paths == anew.paths


def test_joined_views_hold_the_paths_of_both(repo: Repo) -> None:
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
