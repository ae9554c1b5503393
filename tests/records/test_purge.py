"""A purge removes deleted records from the object database, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.indexing.index_writer import open_index_writer
from gitmem.memory.record_paths import REFERENCE, SHARED_REFERENCE
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note, list_notes
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records, read_log
from gitmem.workspace import Workspace, open_workspace, require_index
from tests.gitrepo import Repo
from tests.indexes import InlinePool, index

CANARY = "canary-in-the-mine"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "repo")


@pytest.fixture
def workspace(repo: Repo) -> Workspace:
    return open_workspace(repo.path, {})


def everything(repo: Repo) -> bytes:
    """Return the content of the whole object database."""
    return repo.git_bytes("cat-file", "--batch-all-objects", "--batch", "--unordered")


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_purge_leaves_no_trace_of_deleted_records(repo: Repo, workspace: Workspace, packed: bool) -> None:
    repo.commit({"a": "1"})
    current = add_note(workspace, "current").note
    note = add_note(workspace, CANARY).note
    add_document(workspace, CANARY + " old", {"source": "s", "source_id": "1"})
    add_document(workspace, "new", {"source": "s", "source_id": "1"})
    delete_records(workspace, [note.id])
    own = repo.git("hash-object", "-w", "--stdin", stdin=b"a loose end of the user")
    repo.git("commit", "--allow-empty", "-qm", "amended away")
    away = repo.oid("HEAD")
    repo.git("reset", "-q", "--soft", "HEAD~1")
    assert repo.git("reflog", "show", REFERENCE)
    if packed:
        repo.git("repack", "-qadk")
    assert CANARY.encode() in everything(repo)
    before = repo.oid(REFERENCE + "^{tree}")
    purged = purge_memory(workspace)
    assert purged.objects > 0
    assert purged.left == 0
    assert CANARY.encode() not in everything(repo)
    assert note.id.encode() not in everything(repo)
    assert repo.oid(REFERENCE + "^{tree}") == before
    assert list_notes(workspace) == [current]
    assert len(read_log(workspace)) == 1
    assert {repo.git("cat-file", "-t", oid) for oid in (own, away)} == {"blob", "commit"}
    repo.git("fsck", "--strict", "--full")
    assert purge_memory(workspace).objects == 0


def test_a_purge_drops_the_segments_of_an_unfinished_full_run(
    repo: Repo, workspace: Workspace, fake_model: type[InlinePool]
) -> None:
    repo.commit({"a.py": "x = 1\n"})
    index(repo)
    note = add_note(workspace, CANARY).note
    with open_index_writer(workspace.paths, wait=False) as writer:
        assert writer.manifest is not None
        writer.publish_unfinished(writer.manifest._replace(complete=False))
    delete_records(workspace, [note.id])
    before = {path.name for path in workspace.paths.segments.iterdir()}
    assert purge_memory(workspace).chunks == 1
    assert not workspace.paths.unfinished.exists()
    after = {path.name for path in workspace.paths.segments.iterdir()}
    assert after < before
    assert after == {entry.name for entry in require_index(workspace).segments}


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_the_next_purge_finishes_an_interrupted_one(
    repo: Repo, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    """Interrupt it after every number of removals: a commit may be removed before its parents and trees."""
    stopped = 0
    while stopped >= 0:
        delete_records(workspace, [add_note(workspace, CANARY).note.id])
        if packed:
            repo.git("repack", "-qadk")
            delete_records(workspace, [add_note(workspace, "loose " + CANARY).note.id])
        removals = iter(range(stopped))

        def die(path: Path, removals: Iterator[int] = removals) -> None:
            if next(removals, None) is None:
                raise KeyboardInterrupt
            path.unlink(missing_ok=True)

        monkeypatch.setattr("gitmem.git.object_removal.remove_file", die)
        try:
            purge_memory(workspace)
            stopped = -1
        except KeyboardInterrupt:
            stopped += 1
        monkeypatch.undo()
        purge_memory(workspace)
        assert CANARY.encode() not in everything(repo)
        objects = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
        expected = repo.git("rev-list", "--objects", "--no-object-names", REFERENCE, SHARED_REFERENCE).split()
        assert set(objects) == set(expected)
        repo.git("fsck", "--strict", "--full")


def test_a_purge_keeps_objects_that_a_branch_reaches(repo: Repo, workspace: Workspace) -> None:
    note = add_note(workspace, CANARY).note
    repo.git("branch", "mine", REFERENCE)
    delete_records(workspace, [note.id])
    for _ in range(2):  # only the first purge can walk the former revisions; the second finds the objects by marks
        assert_kept_by(workspace, "refs/heads/mine")
    assert CANARY.encode() in everything(repo)
    repo.git("branch", "-qD", "mine")
    assert purge_memory(workspace)[2:5] == (0, 0, ())
    assert CANARY.encode() not in everything(repo)


def assert_kept_by(workspace: Workspace, *holders: str) -> None:
    """Purge, and assert that one record is left and what keeps it."""
    purged = purge_memory(workspace)
    assert (purged.left_records, purged.kept_by) == (1, holders)
    assert purged.left >= 1


def test_a_purge_reports_the_refs_that_keep_deleted_records(repo: Repo, workspace: Workspace) -> None:
    repo.commit({"a": "1"})
    add_note(workspace, "kept")
    note = add_note(workspace, CANARY).note
    repo.git("update-ref", "refs/backup/one", REFERENCE)
    repo.git("tag", "-am", "two", "two", REFERENCE)
    repo.git("update-ref", "refs/mine", repo.oid(f"{REFERENCE}:v1/notes/{note.id[4:6]}/{note.id}"))
    delete_records(workspace, [note.id])
    for _ in range(2):
        assert_kept_by(workspace, "refs/backup/one", "refs/mine", "refs/tags/two")
    repo.git("update-ref", "-d", "refs/backup/one")
    tag = repo.oid("refs/tags/two")
    repo.git("tag", "-d", "two")
    repo.path.joinpath(".git/objects", tag[:2], tag[2:]).unlink()
    for _ in range(2):
        assert_kept_by(workspace, "refs/mine")
    repo.git("update-ref", "-d", "refs/mine")
    assert purge_memory(workspace)[2:5] == (0, 0, ())
    assert CANARY.encode() not in everything(repo)


def test_a_purge_reports_that_a_commit_of_the_user_keeps_a_deleted_record(repo: Repo, workspace: Workspace) -> None:
    repo.commit({"a": "1"})
    note = add_note(workspace, CANARY).note
    oid = repo.git("commit-tree", "-m", "mine", f"{REFERENCE}^{{tree}}")
    repo.git("update-ref", "refs/heads/mine", oid)
    delete_records(workspace, [note.id])
    assert_kept_by(workspace, "another ref or HEAD")


def test_a_purge_reports_that_a_reflog_keeps_a_deleted_record(repo: Repo, workspace: Workspace) -> None:
    repo.commit({"a": "1"})
    note = add_note(workspace, CANARY).note
    repo.git("update-ref", "HEAD", REFERENCE)
    repo.git("update-ref", "HEAD", "HEAD@{1}")
    delete_records(workspace, [note.id])
    for _ in range(2):
        assert_kept_by(workspace, "a reflog")


def test_a_purge_reports_that_an_unreachable_commit_keeps_a_deleted_record(repo: Repo, workspace: Workspace) -> None:
    note = add_note(workspace, CANARY).note
    repo.git("commit-tree", "-m", "mine", f"{REFERENCE}^{{tree}}")
    delete_records(workspace, [note.id])
    for _ in range(2):
        assert_kept_by(workspace, "an unreachable object")


def test_a_purge_reports_that_the_index_of_a_linked_working_tree_keeps_a_deleted_record(
    repo: Repo, workspace: Workspace
) -> None:
    repo.commit({"a": "1"})
    linked = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", str(linked))
    note = add_note(workspace, CANARY).note
    repo.git("-C", str(linked), "read-tree", REFERENCE)
    delete_records(workspace, [note.id])
    for _ in range(2):
        assert_kept_by(workspace, "an index")
    assert CANARY.encode() in everything(repo)


def test_a_purge_reports_that_an_alternate_keeps_a_deleted_record(repo: Repo, workspace: Workspace) -> None:
    note = add_note(workspace, CANARY).note
    shared = repo.path.parent / "shared"
    repo.git("clone", "-q", "--shared", str(repo.path), str(shared))
    repo.git("-C", str(shared), "fetch", "-q", "origin", f"{REFERENCE}:{REFERENCE}")
    other = open_workspace(shared, {})
    delete_records(other, [note.id])
    for _ in range(2):
        assert_kept_by(other, "another repository's objects (alternates)")
    assert list_notes(workspace) == [note]


def test_records_left_by_a_dead_writer_are_purged(repo: Repo, workspace: Workspace) -> None:
    data = b'{"v": 1, "kind": "note", "id": "mem_000000000000"}\n\n' + CANARY.encode()
    repo.git("hash-object", "-w", "--stdin", stdin=data)
    purge_memory(workspace)
    assert everything(repo) == b""


def test_trees_of_a_writer_that_died_before_its_commit_are_purged(repo: Repo, workspace: Workspace) -> None:
    data = b'{"v": 1, "kind": "note", "id": "mem_000000000000"}\n\n' + CANARY.encode()
    oid = repo.git("hash-object", "-w", "--stdin", stdin=data)
    for line in (
        "100644 blob %s\tmem_000000000000",
        "040000 tree %s\t00",
        "040000 tree %s\tnotes",
        "040000 tree %s\tv1",
    ):
        oid = repo.git("mktree", stdin=(line % oid + "\n").encode())
    purge_memory(workspace)
    assert everything(repo) == b""


def test_a_purge_removes_what_dead_writers_were_writing(repo: Repo, workspace: Workspace) -> None:
    repo.commit({"a.py": "x = 1\n"})
    index(repo)
    paths = workspace.paths
    folder = repo.path / ".git/objects/tmp_objdir-gitmem-00/ab"
    folder.mkdir(parents=True)
    left = [
        folder / "tmp_obj_1",
        paths.segments / ".segment.00.tmp",
        paths.root / ".manifest.00.tmp",
        paths.state / f".{paths.records.name}.00.tmp",
    ]
    for file in left:
        file.write_text(CANARY)
    purge_memory(workspace)
    assert not [file for file in left if file.exists()]
