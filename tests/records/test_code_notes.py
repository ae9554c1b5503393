"""Notes about the code of a hit, by the paths and symbols that they name."""

import json
from pathlib import Path

import pytest

from gitmem.answering.answer import Answer
from gitmem.errors import UsageError
from gitmem.memory.note import MAX_REFERENCES
from gitmem.records.code_notes import MAX_NOTES, missing_paths
from gitmem.records.notes import add_note, list_notes
from gitmem.records.revisions import delete_records
from gitmem.records.transfer import export_records, import_records
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")

CODE = "class Session:\n    def close(self):\n        return self.harvest()\n\n\ndef harvest_apples():\n    return 1\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"src/farm/session.py": CODE, "src/other.py": "def harvest_pears():\n    return 2\n"})
    index(repo)
    return repo


def notes_of(answer: Answer) -> dict[str, list[str]]:
    """Return the first lines of the notes about each hit, by its path and symbol."""
    return {
        f"{hit.path}:{hit.symbol}": [note.text for note in code_notes]
        for (hit, _), code_notes in zip(answer.hits, answer.code_notes, strict=True)
    }


@pytest.mark.parametrize(
    ("paths", "symbols", "expected"),
    [
        (["src/farm/session.py"], [], {"session"}),
        (["./src//farm/"], [], {"session"}),
        (["src"], [], {"session", "other"}),
        (["src/far"], [], set()),
        ([], ["harvest_pears"], {"other"}),
        ([], ["harvest"], set()),
        (["src/farm"], ["harvest_pears"], set()),
        (["src/other.py", "docs"], ["x", "harvest_pears"], {"other"}),
    ],
)
def test_a_note_is_about_the_code_it_names(
    repo: Repo, paths: list[str], symbols: list[str], expected: set[str]
) -> None:
    add_note(workspace_of(repo), "Ask Ann\nbefore you change it.", paths=paths, symbols=symbols)
    answer = search(repo, "harvest")
    files = {
        hit.path.rpartition("/")[2].removesuffix(".py")
        for (hit, _), notes in zip(answer.hits, answer.code_notes, strict=True)
        if notes
    }
    assert {hit.path for hit, _ in answer.hits} == {"src/farm/session.py", "src/other.py"}
    assert files == expected
    assert all(texts in ([], ["Ask Ann"]) for texts in notes_of(answer).values())


@pytest.mark.parametrize("symbol", ["Session", "close", "Session.close"])
def test_a_note_may_name_a_part_of_a_symbol(repo: Repo, symbol: str) -> None:
    add_note(workspace_of(repo), "about it", symbols=[symbol])
    notes = notes_of(search(repo, "Session.close", limit=1))
    assert list(notes.values()) == [["about it"]]


def test_at_most_three_notes_are_shown_newest_first(repo: Repo) -> None:
    workspace = workspace_of(repo)
    for number in range(MAX_NOTES + 1):
        add_note(workspace, f"number {number}", paths=["src/other.py"])
    deleted = add_note(workspace, "gone", paths=["src/other.py"]).note
    delete_records(workspace, [deleted.id])
    [texts] = notes_of(search(repo, "harvest_pears", limit=1)).values()
    assert texts == [f"number {number}" for number in range(MAX_NOTES, 0, -1)]


def test_a_note_that_is_a_hit_has_no_notes(repo: Repo) -> None:
    add_note(workspace_of(repo), "harvest", paths=["src"])
    answer = search(repo, "harvest", kinds=("code", "notes"))
    has_notes = {hit.chunk_type: bool(notes) for (hit, _), notes in zip(answer.hits, answer.code_notes, strict=True)}
    assert has_notes["note"] is False


def test_a_query_reads_no_notes_if_none_names_code(repo: Repo, blobs_read: list[str]) -> None:
    workspace = workspace_of(repo)
    add_note(workspace, "harvest it")
    search(repo, "harvest")
    note = repo.git("rev-parse", "refs/gitmem/memory:v1/notes").strip()
    blobs = {line.split()[2] for line in repo.git("ls-tree", "-r", note).splitlines()}
    blobs_read.clear()
    assert search(repo, "harvest_pears").code_notes[0] == []
    assert not blobs & set(blobs_read)


def test_notes_about_code_are_found_before_and_after_the_view_is_rewritten(repo: Repo) -> None:
    workspace = workspace_of(repo)
    # One change per 200 records is laid over the view; the second rewrites its file.
    import_records(workspace, [json.dumps({"content": f"about something else {number}"}) for number in range(200)])
    search(repo, "harvest_pears")
    stored, answers = [workspace.paths.records.read_bytes()], []
    for text in ("first", "second"):
        add_note(workspace, text, paths=["src/other.py"])
        answers.append(notes_of(search(repo, "harvest_pears", limit=1)))
        stored.append(workspace.paths.records.read_bytes())
    assert [*answers[0].values()] == [["first"]]
    assert [*answers[1].values()] == [["second", "first"]]
    assert stored[0] == stored[1] != stored[2]


def test_a_notice_names_a_missing_path_of_a_new_note(repo: Repo) -> None:
    added = add_note(workspace_of(repo), "x", paths=["src/other.py", "src", "src/typo.py"])
    assert added.notices == ["no such path in this repository: `src/typo.py`"]
    assert added.note.paths == ("src/other.py", "src", "src/typo.py")


def test_a_path_is_missing_if_neither_the_working_tree_nor_head_has_it(repo: Repo) -> None:
    def missing() -> list[str]:
        return missing_paths(workspace_of(repo), ["src/other.py", "src/farm", "[s]rc", "new.py"])

    assert missing() == ["[s]rc", "new.py"]
    (repo.path / "src/other.py").unlink()
    (repo.path / "new.py").write_text("x")
    assert missing() == ["[s]rc"]
    repo.git("rm", "-q", "src/other.py")
    repo.git("commit", "-qm", "gone")
    assert missing() == ["src/other.py", "[s]rc"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../up.py", "a/../b", "", " ", ".", "/", "a\nb", "x" * 1001])
def test_a_path_outside_the_repository_is_refused(repo: Repo, path: str) -> None:
    with pytest.raises(UsageError, match="path"):
        add_note(workspace_of(repo), "x", paths=[path])


@pytest.mark.parametrize("symbols", [[""], ["a\nb"], ["x" * 201], ["a"] * (MAX_REFERENCES + 1)])
def test_a_symbol_out_of_bounds_is_refused(repo: Repo, symbols: list[str]) -> None:
    with pytest.raises(UsageError, match="symbol"):
        add_note(workspace_of(repo), "x", symbols=symbols)


def test_paths_and_symbols_are_stored_in_the_record(repo: Repo) -> None:
    note = add_note(workspace_of(repo), "x", paths=["src"], symbols=["Session"]).note
    blob = repo.git("show", f"refs/gitmem/memory:v1/notes/{note.id[4:6]}/{note.id}")
    head = json.loads(blob.splitlines()[0])
    assert (head["paths"], head["symbols"]) == (["src"], ["Session"])


def test_paths_and_symbols_are_exported_and_imported(repo: Repo, tmp_path: Path) -> None:
    add_note(workspace_of(repo), "x", paths=["src"], symbols=["Session"])
    other = Repo.init(tmp_path / "other")
    import_records(workspace_of(other), export_records(workspace_of(repo)))
    assert [(note.paths, note.symbols) for note in list_notes(workspace_of(other))] == [(("src",), ("Session",))]
    bad = '{"content": "x", "paths": [1]}', '{"content": "x", "symbols": "Session"}', '{"content": "x", "paths": ["/"]}'
    assert len(import_records(workspace_of(other), bad, partial=True).bad) == len(bad)
