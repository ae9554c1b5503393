"""Whatever somebody pushes to the remote, and wherever a sync is killed, nothing leaks, returns or stops the others."""

import hashlib
import json

import pytest

from gitmem.memory.record_paths import REFERENCE, document_path
from gitmem.memory.record_store import RecordStore
from gitmem.memory.shared_state import write_shared
from gitmem.record import format_record
from gitmem.records.documents import add_document
from gitmem.records.exchange import exchange
from gitmem.records.merging import accept_loss
from gitmem.records.notes import add_note
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from tests.gitrepo import Repo
from tests.records.sharing_clones import NOTE, OTHER, Clone, make_remote

EVIL = f"refs/gitmem/writers/{'f' * 16}"


def contents(repo: Repo) -> str:
    """Return the text of every object of a repository, reachable or not."""
    return repo.git("cat-file", "--batch-all-objects", "--batch", "--buffer", "--unordered")


def store(repo: Repo, text: str) -> str:
    return repo.git("hash-object", "-w", "--stdin", stdin=text.encode())


def commit_file(repo: Repo, path: str, text: str) -> str:
    """Store a commit with one file, and return its id."""
    oid, kind = store(repo, text), "100644 blob"
    for name in reversed(path.split("/")):
        oid, kind = repo.git("mktree", stdin=f"{kind} {oid}\t{name}\n".encode()), "040000 tree"
    return repo.git("commit-tree", "-m", "x", oid)


def kill_sync(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill a sync right after it has moved the memory."""
    before = clone.repo.git("for-each-ref", REFERENCE)

    def die(*args: object) -> None:
        if clone.repo.git("for-each-ref", REFERENCE) != before:
            raise KeyboardInterrupt
        write_shared(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("gitmem.records.sharing.write_shared", die)
    with pytest.raises(KeyboardInterrupt):
        clone.sync("origin")
    monkeypatch.undo()


def test_a_killed_sync_brings_nobody_elses_notes_to_another_remote(
    remote: Repo, ann: Clone, bob: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = make_remote(remote.path.with_name("public"))
    ann.repo.git("remote", "add", "public", str(public.path))
    ann.put(NOTE, "by ann")
    ann.sync("origin")
    bob.put(OTHER, "xyzzy")
    bob.sync()
    kill_sync(ann, monkeypatch)
    assert ann.texts() == ["by ann", "xyzzy"]
    add_note(ann.workspace, "later")
    assert exchange(ann.workspace, "public", pull=False, push=True).sent == 2
    assert "later" in contents(public)
    assert "xyzzy" not in contents(public)


def test_a_killed_sync_revives_no_note(ann: Clone, bob: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ann.put(NOTE, "one")
    for clone in (ann, bob):
        clone.sync()
    for text in ("two", "three"):
        bob.put(NOTE, text)
        bob.sync()
    kill_sync(ann, monkeypatch)
    assert ann.texts() == ["three"]
    delete_records(bob.workspace, [NOTE])
    for clone in (bob, ann, bob):
        clone.sync()
        assert clone.texts() == []


def documents(clone: Clone) -> dict[str, tuple[str, str]]:
    """Return id and visibility of every document by its text."""
    return {each["content"]: (each["id"], each["visibility"]) for each in map(json.loads, clone.records())}


def test_a_variant_that_becomes_private_is_withdrawn(ann: Clone, bob: Clone) -> None:
    fields = {"source_id": "plan", "visibility": "team"}
    name = add_document(ann.workspace, "before", fields).document.id
    for clone in (ann, bob):
        clone.sync()
    add_document(ann.workspace, "by ann", fields)
    add_document(bob.workspace, "by bob", fields)
    for clone in (bob, ann):
        clone.sync()
    variant = documents(ann)["by ann"][0]
    assert variant != name
    with RecordStore(ann.workspace.location) as records:
        path = document_path(variant)
        record = records.find_record(records.tip(), path)
        assert record
        data = format_record(record._replace(fields={**record.fields, "visibility": "me"}))
        records.change("private", lambda _: {path: data})
    for clone in (ann, bob):
        clone.sync()
    assert documents(bob) == {"by bob": (name, "team")}
    assert documents(ann) == {"by ann": (variant, "me"), "by bob": (name, "team")}


@pytest.mark.parametrize("ref", [EVIL, REFERENCE])
def test_a_ref_to_anything_stops_nobody(remote: Repo, ann: Clone, ref: str) -> None:
    ann.put(NOTE, "one")
    ann.sync()
    missing = "1" * 40
    for oid in (store(remote, "x"), store(remote, "tree HEAD\n"), store(remote, f"tree {missing}\n\n"), "main^{tree}"):
        remote.git("update-ref", ref, remote.git("rev-parse", oid))
        for pull, push in ((True, True), (True, False), (False, True)):
            notices = exchange(ann.workspace, pull=pull, push=push).notices
            assert notices[0].endswith("are damaged or forged; they were left out")
    assert ann.texts() == ["one"]


def test_an_overwritten_ref_is_replaced_by_its_writer(remote: Repo, ann: Clone, bob: Clone) -> None:
    ann.put(NOTE, "one")
    ref = f"refs/gitmem/writers/{ann.sync().writer}"
    for oid in (remote.oid("main"), store(remote, "x")):
        remote.git("update-ref", ref, oid)
        ann.sync()
        assert remote.git("rev-list", "--count", ref) == "1"
    bob.sync()
    assert bob.texts() == ["one"]


@pytest.mark.parametrize(
    ("path", "head", "notice"),
    [
        ("v1/notes/ac/mem_ac0123456789", '"kind": "note", "confidence": 1' + "0" * 400, "damaged or forged"),
        ("v1/notes/ac/mem_ac0123456789", '"kind": "note", "time": "\\u001b[31m"', "damaged or forged"),
        ("v1/notes/ac/mem_ac0123456789", '"kind": "document", "visibility": "team"', "damaged or forged"),
        ("v1/documents/ac/art_acacacac", '"kind": "document", "visibility": "team", "tokens": Infinity', "damaged"),
        ("v1/documents/ac/art_acacacac", '"kind": "note"', "damaged or forged"),
        ("v1/documents/ac/art_acacacac", None, "damaged or forged"),
        ("v1/documents/ac/art_acacacac", '"v": 9', "a newer gitmem"),
    ],
)
def test_a_bad_record_of_a_former_memory_enters_nobodys(
    remote: Repo, ann: Clone, path: str, head: str | None, notice: str
) -> None:
    ann.put(NOTE, "one")
    name = path.rpartition("/")[2]
    text = f'{{"v": 1, "id": "{name}", {head}}}\n\nx' if head else "garbage"
    remote.git("update-ref", REFERENCE, commit_file(remote, path, text))
    for _ in range(2):
        assert notice in ann.sync().notices[0]
    assert ann.texts() == ["one"]
    assert len(ann.records()) == 1


def test_an_accepted_loss_makes_nobody_elses_notes_ones_own(remote: Repo, ann: Clone, bob: Clone) -> None:
    public = make_remote(remote.path.with_name("public"))
    ann.repo.git("remote", "add", "public", str(public.path))
    for text in ("before", "between", "xyzzy"):
        bob.put(OTHER, text)
        bob.sync()
    ann.sync("origin")
    ann.put(NOTE, "by ann")
    ann.sync("origin")
    ann.repo.git("update-ref", REFERENCE, f"{REFERENCE}~1")
    accept_loss(ann.workspace)
    delete_records(bob.workspace, [OTHER])
    bob.sync()
    assert ann.sync("public").sent == 0
    assert "xyzzy" not in contents(public)
    for clone in (ann, bob, ann):
        clone.sync("origin")
    assert ann.texts() == bob.texts() == ["by ann"]


def test_a_purge_of_what_is_no_record_purges_nothing(remote: Repo, ann: Clone) -> None:
    ann.put(NOTE, "one")
    ann.put(NOTE, "two")
    ref = f"refs/gitmem/writers/{ann.sync().writer}"
    before, commits = remote.oid(ref), ann.repo.git("rev-list", REFERENCE)
    listed = "".join(f"{oid}\n" for oid in sorted((remote.oid(f"{ref}:writer"), remote.oid("main"))))
    name = hashlib.sha256(listed.encode()).hexdigest()[:20]
    head = store(remote, '{"v": 1, "name": "eve"}\n')
    purges = remote.git("mktree", stdin=f"100644 blob {store(remote, listed)}\t{name}\n".encode())
    tree = remote.git("mktree", stdin=f"040000 tree {purges}\tpurges\n100644 blob {head}\twriter\n".encode())
    remote.git("update-ref", EVIL, remote.git("commit-tree", "-m", "x", tree))
    assert not ann.sync().purged
    after = remote.oid(ref)
    assert not ann.sync().purged
    assert remote.oid(ref) == after
    assert before in remote.git("rev-list", ref)
    assert ann.repo.git("rev-list", REFERENCE) == commits


def test_a_damaged_ref_keeps_no_purged_note(remote: Repo, ann: Clone, bob: Clone) -> None:
    ann.put(NOTE, "xyzzy")
    for clone in (ann, bob):
        clone.sync()
    blob = bob.repo.oid(f"{REFERENCE}:v1/notes/01/{NOTE}")
    tree = remote.git("mktree", stdin=f"100644 blob {blob}\tx\n".encode())
    remote.git("update-ref", EVIL, remote.git("commit-tree", "-m", "x", tree))
    ann.put(NOTE, "new")
    purge_memory(ann.workspace)
    for clone in (ann, bob):
        assert clone.sync().purged
        assert "xyzzy" not in contents(clone.repo)
        result = clone.sync()
        assert not result.purged
        assert result.notices[0].endswith("are damaged or forged; they were left out")
        assert "xyzzy" not in contents(clone.repo)
