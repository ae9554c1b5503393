"""Sharing next to the ordinary use of git: mirrors, forks, linked working trees and protected branches."""

import pytest

from gitmem.memory.record_paths import REFERENCE
from gitmem.records.notes import add_note
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo
from tests.records.sharing_clones import Clone, make_clone


def write_hook(remote: Repo, refused: str) -> None:
    """Let only refs outside a pattern of the shell be changed."""
    hook = remote.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\ncase "$1" in {refused}) exit 1 ;; esac\n')
    hook.chmod(0o755)


def test_a_mirror_restores_everything(remote: Repo, ann: Clone, bob: Clone) -> None:
    """`git push --mirror` is a backup: it brings the memory itself, and takes nothing of others from the memory."""
    add_note(bob.workspace, "theirs")
    bob.sync()
    ann.sync()
    add_note(ann.workspace, "private", visibility="me")
    backup = Repo.init(remote.path.with_name("backup"), "--bare")
    ann.repo.git("push", "-q", "--mirror", str(backup.path))
    assert backup.oid(REFERENCE) == ann.repo.oid(REFERENCE)
    # Nobody who reads the shared remote sees the private note, whatever was pushed elsewhere.
    assert "private" not in remote.git("log", "-p", "--all", "--format=")
    ann.sync()
    assert ann.texts() == ["private", "theirs"]


def test_a_mirror_of_others_loses_no_note_of_the_clone(remote: Repo, ann: Clone, bob: Clone) -> None:
    """A push of all refs deletes refs of writers that its sender lacks: each of them brings its own back."""
    add_note(ann.workspace, "one")
    ann.sync()
    bob.repo.git("push", "-q", "--mirror", "origin")
    assert "refs/gitmem/writers" not in remote.git("for-each-ref", "--format=%(refname)")
    ann.sync()
    bob.sync()
    assert ann.texts() == bob.texts() == ["one"]


def test_a_fork_and_its_origin_share_with_whom_they_are_told(remote: Repo, ann: Clone, bob: Clone) -> None:
    fork = Repo.init(remote.path.with_name("fork"), "--bare")
    ann.repo.git("remote", "add", "fork", fork.path.as_uri())
    add_note(ann.workspace, "one")
    ann.sync("fork")
    bob.sync()
    assert bob.texts() == []
    bob.repo.git("remote", "add", "fork", fork.path.as_uri())
    add_note(bob.workspace, "two")
    bob.sync()
    bob.sync("fork")
    ann.sync("fork")
    assert ann.texts() == bob.texts() == ["one", "two"]
    other = make_clone(remote, "eve")
    other.sync()
    assert other.texts() == ["two"]


def test_linked_working_trees_are_one_writer(remote: Repo, ann: Clone, bob: Clone) -> None:
    linked = ann.repo.path.with_name("linked")
    ann.repo.git("worktree", "add", "-q", str(linked))
    add_note(ann.workspace, "one")
    ann.sync()
    there = Clone(linked)
    add_note(open_workspace(linked, {}), "two")
    there.sync("origin")
    bob.sync()
    assert ann.texts() == there.texts() == bob.texts() == ["one", "two"]
    assert len(remote.git("for-each-ref", "--format=%(refname)", "refs/gitmem").splitlines()) == 1


@pytest.mark.parametrize("place", ["ref", "branch"])
def test_a_protected_branch_and_denied_deletions_stop_no_note(remote: Repo, ann: Clone, bob: Clone, place: str) -> None:
    write_hook(remote, "refs/heads/main")
    remote.git("config", "receive.denyDeletes", "true")
    remote.git("config", "receive.denyNonFastForwards", "true")
    ann.repo.git("config", "remote.origin.gitmemWriters", place)
    for text in ("one", "two"):
        add_note(ann.workspace, text)
        ann.sync()
    bob.sync()
    assert bob.texts() == ["one", "two"]


def test_a_mirror_pushes_its_notes(remote: Repo, ann: Clone, bob: Clone) -> None:
    mirror = make_clone(remote, "mirror", "--mirror")
    add_note(mirror.workspace, "of the mirror")
    mirror.sync()
    ann.sync()
    assert ann.texts() == ["of the mirror"]
