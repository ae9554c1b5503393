"""Nothing that git does to the ref of the memory loses records silently, or lets a purge remove them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, UsageError
from gitmem.memory.last_tip import find_lost_records
from gitmem.memory.record_paths import BACKUP_REFERENCE, REFERENCE
from gitmem.paths import MEMORY_TIP
from gitmem.records.merging import accept_loss, merge_memory, recover_memory
from gitmem.records.notes import add_note, list_notes
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records, read_log
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo

OLD_REFSPEC = "refs/gitmem/*:refs/gitmem/*"
"""Documented before; users may have it in their configuration."""


@pytest.fixture(params=["sha1", "sha256"])
def remote(tmp_path: Path, request: pytest.FixtureRequest) -> Repo:
    repo = Repo.init(tmp_path / "remote", "--bare", f"--object-format={request.param}")
    tree = repo.git("mktree")
    repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", "-m", "first", tree))  # clones get its format
    return repo


def clone(remote: Repo, name: str, *options: str) -> Repo:
    path = remote.path.with_name(name)
    remote.git("clone", "-q", *options, str(remote.path), str(path))
    return Repo(path)


def texts(workspace: Workspace) -> set[str]:
    return {note.content for note in list_notes(workspace)}


def prune_by_configuration(repo: Repo) -> None:
    repo.git("config", "fetch.prune", "true")
    repo.git("fetch", "-q", "origin", OLD_REFSPEC)


def prune_remote(repo: Repo) -> None:
    repo.git("config", "--add", "remote.origin.fetch", OLD_REFSPEC)
    repo.git("remote", "prune", "origin")


def delete_reference(repo: Repo) -> None:
    repo.git("update-ref", "-d", REFERENCE)


@pytest.mark.parametrize("lose", [prune_by_configuration, prune_remote, delete_reference])
def test_a_pruned_memory_is_recovered(remote: Repo, lose: Callable[[Repo], None]) -> None:
    repo = clone(remote, "clone")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "one")
    assert find_lost_records(workspace.location) is None
    commit = repo.oid(REFERENCE)
    lose(repo)
    assert not repo.git("for-each-ref", REFERENCE)
    repo.git("reflog", "expire", "--expire=all", "--expire-unreachable=all", "--all")
    repo.git("gc", "-q", "--prune=now")
    lost = find_lost_records(workspace.location)
    assert lost == (commit, None, True)
    with pytest.raises(GitmemError, match="refusing to purge") as refusal:
        purge_memory(workspace)
    assert refusal.value.hint == "first run: gitmem memory recover"
    add_note(workspace, "two")
    assert find_lost_records(workspace.location) is not None
    recovered = recover_memory(workspace)
    assert (recovered.commit, recovered.taken, recovered.deleted, recovered.different) == (commit, 1, 0, 0)
    assert texts(workspace) == {"one", "two"}
    assert find_lost_records(workspace.location) is None
    assert [entry.message.partition(" ")[0] for entry in read_log(workspace)] == ["merge", "note", "note"]
    purge_memory(workspace)
    assert texts(workspace) == {"one", "two"}
    assert repo.git("fsck", "--unreachable") == ""
    with pytest.raises(UsageError, match="all its last known records"):
        recover_memory(workspace)


@pytest.mark.parametrize("refspec", ["+refs/gitmem/*:refs/gitmem/*", f"+{REFERENCE}:{REFERENCE}"])
def test_a_memory_that_a_fetch_replaced_is_recovered(remote: Repo, refspec: str) -> None:
    first, second = clone(remote, "first"), clone(remote, "second")
    own, other = open_workspace(first.path, {}), open_workspace(second.path, {})
    add_note(other, "theirs")
    second.git("push", "-q", "origin", REFERENCE)
    add_note(own, "ours")
    first.git("fetch", "-q", "origin", refspec)
    assert texts(own) == {"theirs"}
    lost = find_lost_records(own.location)
    assert lost is not None
    assert lost.current == second.oid(REFERENCE)
    with pytest.raises(GitmemError, match="was moved back"):
        purge_memory(own)
    recover_memory(own)
    assert texts(own) == {"ours", "theirs"}


def test_a_memory_that_went_back_is_recovered_as_it_was(remote: Repo) -> None:
    repo = clone(remote, "clone")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "one")
    add_note(workspace, "two")
    tip = repo.oid(REFERENCE)
    repo.git("update-ref", REFERENCE, f"{REFERENCE}~1")
    assert find_lost_records(workspace.location) is not None
    recover_memory(workspace)
    assert repo.oid(REFERENCE) == tip


def test_a_fetch_into_a_mirror_is_reported_even_if_it_takes_the_second_ref(remote: Repo) -> None:
    repo = clone(remote, "mirror.git", "--mirror")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "one")
    repo.git("fetch", "-q", "--prune")
    assert repo.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    lost = find_lost_records(workspace.location)
    assert lost is not None
    assert lost.exists
    recover_memory(workspace)
    assert texts(workspace) == {"one"}
    repo.git("fetch", "-q", "--prune")
    repo.git("gc", "-q", "--prune=now")
    with pytest.raises(GitmemError, match="git has removed its objects"):
        recover_memory(workspace)
    with pytest.raises(GitmemError, match="refusing to purge"):
        purge_memory(workspace)
    accept_loss(workspace)
    purge_memory(workspace)
    assert not (repo.path / MEMORY_TIP).exists()


def test_a_loss_can_be_accepted(remote: Repo) -> None:
    repo = clone(remote, "clone")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "one")
    repo.git("update-ref", "-d", REFERENCE)
    add_note(workspace, "two")
    accept_loss(workspace)
    assert find_lost_records(workspace.location) is None
    purge_memory(workspace)
    assert texts(workspace) == {"two"}
    repo.git("gc", "-q", "--prune=now")
    assert repo.git("fsck", "--unreachable") == ""


def test_memories_of_two_clones_are_merged(remote: Repo) -> None:
    """The documented commands, with pruning on: fetch beside the memory, merge, push."""
    first, second = clone(remote, "first"), clone(remote, "second")
    workspaces = [open_workspace(repo.path, {}) for repo in (first, second)]
    for repo in (first, second):
        repo.git("config", "fetch.prune", "true")
    removed = add_note(workspaces[0], "removed").note
    add_note(workspaces[0], "one")
    first.git("push", "-q", "origin", REFERENCE)
    remembered = "refs/gitmem/remotes/origin/memory"
    for number, (repo, workspace) in enumerate([*zip((first, second), workspaces, strict=True)] * 2):
        repo.git("fetch", "-q", "origin", f"+{REFERENCE}:{remembered}")
        merge_memory(workspace, remembered)
        add_note(workspace, f"round {number}")
        if number == 1:
            delete_records(workspace, [removed.id])
        repo.git("push", "-q", "origin", REFERENCE)
    first.git("fetch", "-q", "origin", f"+{REFERENCE}:{remembered}")
    merge_memory(workspaces[0], remembered)
    expected = {"one", *(f"round {number}" for number in range(4))}
    assert [texts(workspace) for workspace in workspaces] == [expected, expected]
    assert first.oid(REFERENCE) == second.oid(REFERENCE)
    assert find_lost_records(workspaces[0].location) is None
    before = first.oid(REFERENCE)
    merge_memory(workspaces[0], remembered)
    assert first.oid(REFERENCE) == before


def test_a_commit_of_the_user_is_not_merged(remote: Repo) -> None:
    repo = clone(remote, "clone")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "one")
    before = repo.oid(REFERENCE)
    with pytest.raises(UsageError, match="`main` is not a memory"):
        merge_memory(workspace, "main")
    assert repo.oid(REFERENCE) == before


def test_the_reflog_has_the_changes_until_a_purge(remote: Repo) -> None:
    repo = clone(remote, "clone")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "one")
    add_note(workspace, "two")
    assert len(repo.git("reflog", "show", REFERENCE).splitlines()) == 2
    purge_memory(workspace)
    for name in (REFERENCE, BACKUP_REFERENCE):
        assert repo.git("reflog", "show", name) == ""


def test_records_of_linked_working_trees_have_one_last_tip(remote: Repo) -> None:
    repo = clone(remote, "clone")
    repo.commit({"a": "1"})
    repo.git("worktree", "add", "-q", str(repo.path.with_name("linked")))
    linked = open_workspace(repo.path.with_name("linked"), {})
    add_note(linked, "one")
    add_note(open_workspace(repo.path, {}), "two")
    repo.git("update-ref", "-d", REFERENCE)
    assert find_lost_records(linked.location) is not None
    recover_memory(linked)
    assert texts(linked) == {"one", "two"}


def test_a_purge_that_is_killed_after_it_moved_the_ref_is_no_loss(remote: Repo) -> None:
    repo = clone(remote, "clone")
    workspace = open_workspace(repo.path, {})
    add_note(workspace, "one")
    delete_records(workspace, [add_note(workspace, "two").note.id])
    before = repo.oid(REFERENCE)
    purge_memory(workspace)
    purged = repo.oid(REFERENCE)
    add_note(workspace, "three")
    after = repo.oid(REFERENCE)
    assert purged != before
    for tip in (purged, after):
        # As if the purge had been killed: the old tip is still the last known one, and its objects still exist.
        other = clone(remote, f"other-{tip}")
        other.git("fetch", "-q", str(repo.path), f"{tip}:{REFERENCE}")
        known = other.git("commit-tree", "-m", "before", f"{purged}^{{tree}}")
        (other.path / ".git" / MEMORY_TIP).write_text(f"{known}\n")
        assert find_lost_records(open_workspace(other.path, {}).location) is None
