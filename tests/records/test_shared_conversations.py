"""Conversations with a visibility that travels are shared like notes; others stay in the clone."""

import pytest

from gitmem.errors import UsageError
from gitmem.memory.record_paths import turn_path
from gitmem.memory.versions import Version, version_id
from gitmem.records.conversations import (
    append_turn,
    change_visibility,
    import_turns,
    last_turns,
    list_conversations,
)
from tests.gitrepo import Repo
from tests.records.sharing_clones import Clone
from tests.records.test_hostile_sharing import EVIL, commit_file

TALK = "planning"


def say(clone: Clone, text: str, visibility: str = "") -> None:
    append_turn(clone.workspace, TALK, "user", text, None, visibility=visibility)


def turns(clone: Clone, name: str = TALK) -> list[tuple[str, str]]:
    """Return the turns of a conversation, and who shared each."""
    return [(turn.content, turn.shared_by.partition(" ")[0]) for turn in last_turns(clone.workspace, name)]


def names(clone: Clone) -> list[str]:
    return sorted(conversation.id for conversation in list_conversations(clone.workspace))


def test_a_conversation_is_shared_once_its_visibility_says_so(ann: Clone, bob: Clone) -> None:
    say(ann, "one")
    say(ann, "two")
    assert ann.sync().sent == 0
    assert change_visibility(ann.workspace, TALK, "team")[0] == 2
    assert ann.sync().sent == 2
    bob.sync()
    assert turns(bob) == [("one", "ann"), ("two", "ann")]
    say(bob, "three")  # is for the same readers as the turns before
    bob.sync()
    ann.sync()
    assert turns(ann) == [("one", ""), ("two", ""), ("three", "bob")]
    [conversation] = list_conversations(ann.workspace)
    assert (conversation.turns, conversation.visibility) == (3, "team")


def test_a_conversation_that_becomes_private_is_deleted_for_others(ann: Clone, bob: Clone) -> None:
    say(ann, "drafts", "team")
    ann.sync()
    bob.sync()
    assert names(bob) == [TALK]
    change_visibility(ann.workspace, TALK, "me")
    ann.sync()
    bob.sync()
    assert names(bob) == []
    assert names(ann) == [TALK]


def test_turns_that_two_people_append_at_once_are_both_kept(ann: Clone, bob: Clone) -> None:
    say(ann, "one", "team")
    ann.sync()
    bob.sync()
    say(ann, "by ann")
    say(bob, "by bob")
    ann.sync()
    conflicts = bob.sync().conflicts
    ann.sync()
    assert names(ann) == names(bob)
    [variant] = {*names(ann)} - {TALK}
    assert variant.startswith(f"{TALK}~")
    assert set(conflicts) == {f"conversation:{name}" for name in names(bob)}
    texts = {text for name in names(ann) for text, _ in turns(ann, name)}
    assert texts == {"one", "by ann", "by bob"}
    assert ann.records() == bob.records()


def test_an_import_keeps_the_visibility(ann: Clone) -> None:
    say(ann, "one", "team")
    [turn] = last_turns(ann.workspace, TALK)
    later = turn._replace(number=1, content="two", visibility="me")
    assert import_turns(ann.workspace, [turn._replace(visibility="me"), later]).changed == 1
    assert {each.visibility for each in last_turns(ann.workspace, TALK)} == {"team"}
    with pytest.raises(UsageError, match="has the visibility `team`"):
        say(ann, "three", "me")


@pytest.mark.parametrize(
    ("conversation", "fields"),
    [
        ("another", '"turn": 0, "role": "user"'),
        (TALK, '"turn": 1, "role": "user"'),
        (TALK, '"turn": 0, "role": "boss"'),
    ],
)
def test_a_forged_turn_is_left_out(remote: Repo, ann: Clone, bob: Clone, conversation: str, fields: str) -> None:
    say(ann, "one", "team")
    ann.sync()
    (ref,) = remote.git("for-each-ref", "--format=%(refname)", "refs/gitmem/writers").splitlines()
    listed = remote.git("ls-tree", "-r", ref, "records/").split()
    head = f'{{"v": 1, "kind": "turn", "id": "{conversation}", {fields}, "visibility": "team"}}'
    path = f"records/{turn_path(TALK, 0).decode()}"
    assert listed[3].startswith(path)
    # The id of a version is a hash of its content, so the forger computes it as gitmem does.
    oid = remote.git("hash-object", "-w", "--stdin", stdin=f"{head}\n\nforged".encode())
    version = version_id(turn_path(TALK, 0), Version(oid))
    commit = commit_file(remote, f"{path}/{version}", f"{head}\n\nforged")
    head_line = remote.git("hash-object", "-w", "--stdin", stdin=b'{"v": 2, "name": "eve <e@x>"}\n')
    tree = remote.git("ls-tree", f"{commit}^{{tree}}") + f"\n100644 blob {head_line}\twriter\n"
    forged = remote.git("commit-tree", "-m", "x", remote.git("mktree", stdin=tree.encode()))
    remote.git("update-ref", EVIL, forged)
    assert any("damaged or forged" in notice for notice in bob.sync().notices)
    assert turns(bob) == [("one", "ann")]
