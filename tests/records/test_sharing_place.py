"""The places that hosts take records at, and the records that existed before, against git's own HTTP server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.errors import ExitCode, GitFailed, UsageError
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note, list_notes, replace_note
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from gitmem.records.sharing_place import choose_place
from tests.git.forge import HAS_OPENSSL, Forge, open_forge
from tests.gitrepo import Repo
from tests.records.sharing_clones import Clone, make_clone, make_remote
from tests.sample import Cli, assert_error

needs_openssl = pytest.mark.skipif(not HAS_OPENSSL, reason="needs openssl")


def refuse_in_hook(served: Repo, refused: str = "refs/gitmem/*") -> None:
    """Make a host refuse refs in a hook."""
    hook = served.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\ncase "$1" in {refused}) exit 1 ;; esac\n')
    hook.chmod(0o755)


def hide_on_push(served: Repo) -> None:
    """Make a host refuse refs as hidden ones."""
    served.git("config", "transfer.hideRefs", "refs/gitmem")


def hide_on_fetch(served: Repo) -> None:
    """Make a host accept refs that it shows to nobody."""
    served.git("config", "uploadpack.hideRefs", "refs/gitmem")


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    with open_forge(tmp_path) as forge:
        monkeypatch.setenv("GIT_SSL_CAINFO", str(forge.certificate))
        yield forge


@needs_openssl
@pytest.mark.parametrize("restrict", [refuse_in_hook, hide_on_push, hide_on_fetch])
def test_a_host_that_takes_branches_only_shares_records(forge: Forge, restrict: Callable[[Repo], None]) -> None:
    forge.folder.mkdir()
    served = make_remote(forge.folder / "team.git")
    ann, bob = (make_clone(served, name) for name in ("ann", "bob"))
    for clone in (ann, bob):
        clone.repo.git("remote", "set-url", "origin", forge.url("team.git"))
    restrict(served)
    name = add_note(ann.workspace, "canary").note.id
    chosen = choose_place(ann.workspace)
    assert (chosen.place, len(chosen.refused)) == ("branch", 1)
    assert chosen.ref.startswith("refs/heads/gitmem/")
    ann.sync()
    assert "team.git/git-receive-pack" in " ".join(forge.requests)
    # A reader need not know the place.
    bob.sync()
    assert bob.texts() == ["canary"]
    # A purge replaces the commits of branches as well.
    delete_records(ann.workspace, [name])
    purge_memory(ann.workspace)
    assert ann.sync().purged
    assert "canary" not in served.git("log", "-p", "--format=", chosen.ref)


def test_branches_of_records_are_not_fetched_by_the_user(remote: Repo, ann: Clone, bob: Clone) -> None:
    chosen = choose_place(ann.workspace, place="branch")
    choose_place(bob.workspace, place="branch")
    add_note(ann.workspace, "one")
    ann.sync()
    assert chosen.ref in remote.git("for-each-ref", "--format=%(refname)")
    for clone in (ann, bob):
        clone.repo.git("fetch", "-q", "origin")
        assert "gitmem/" not in clone.repo.git("branch", "--all", "--list")
    bob.sync()
    assert bob.texts() == ["one"]
    # The choice stays with the remote, and is made once.
    ann.repo.git("remote", "rename", "origin", "hub")
    again = choose_place(ann.workspace)
    assert ann.repo.git("config", "remote.hub.gitmemWriters") == again.place == "ref"
    spec = ann.repo.git("config", "--get-all", "remote.hub.fetch").splitlines()
    assert spec.count("^refs/heads/gitmem/*") == 1


def test_a_writer_that_moved_to_a_branch_keeps_its_records(remote: Repo, ann: Clone, bob: Clone) -> None:
    names = [add_note(ann.workspace, text).note.id for text in ("one", "two")]
    ann.sync()
    bob.sync()
    refuse_in_hook(remote)
    delete_records(ann.workspace, names[:1])
    choose_place(ann.workspace)
    ann.sync()
    bob.sync()
    assert ann.texts() == bob.texts() == ["two"]


def test_a_host_that_takes_nothing_is_named(remote: Repo, ann: Clone) -> None:
    refuse_in_hook(remote, "*")
    with pytest.raises(GitFailed, match=r"takes no records: `refs/gitmem/.*hook declined; `refs/heads/gitmem/"):
        choose_place(ann.workspace)
    ann.repo.git("config", "remote.origin.gitmemWriters", "tag")
    with pytest.raises(UsageError, match=r"`remote.origin.gitmemWriters` is `tag`, it must be one of ref, branch"):
        ann.sync()


def test_existing_records_are_decided_about_once(cli: Cli, ann: Clone, bob: Clone) -> None:
    add_note(bob.workspace, "theirs")
    bob.sync()
    ann.sync()
    add_note(ann.workspace, "one")
    add_document(ann.workspace, "text", {"source_id": "a", "visibility": "team"})
    add_document(ann.workspace, "text", {"source_id": "b"})
    refused = cli("share", "init", cwd=ann.repo.path)
    assert_error(refused, ExitCode.USAGE, "2 records could be shared, and nobody can be asked without a terminal")
    out = cli("share", "init", "--existing", "private").out
    assert "2 existing records made private" in out
    assert "records are pushed to `refs/gitmem/writers/" in out
    ann.sync()
    bob.sync()
    assert bob.texts() == ["theirs"]
    assert [note.visibility for note in list_notes(ann.workspace)] == ["me", "team"]
    # What is added later is shared, and there is nothing left to ask about.
    add_note(ann.workspace, "two")
    assert "1 existing record to share" in cli("share", "init", "--existing", "share").out
    ann.sync()
    bob.sync()
    assert bob.texts() == ["theirs", "two"]
    assert cli("share", "init").code == ExitCode.OK


def test_a_refused_first_exchange_leaves_the_question_open(cli: Cli, remote: Repo, ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "kept to myself")
    refused = cli("sync", cwd=ann.repo.path)
    assert_error(refused, ExitCode.USAGE, "pass `--yes` to answer: share 1 record with everybody who reads `origin`?")
    assert "gitmem sync --yes origin" in refused.err
    assert cli("share", "init").code == ExitCode.USAGE
    assert "1 existing record made private" in cli("share", "init", "--existing", "private").out
    assert cli("sync").code == ExitCode.OK
    bob.sync()
    assert bob.texts() == []
    assert "kept to myself" not in remote.git("cat-file", "--batch-all-objects", "--batch")


def test_a_private_note_never_leaves_the_clone(cli: Cli, remote: Repo, ann: Clone, bob: Clone) -> None:
    kept = add_note(ann.workspace, "only mine", visibility="me").note.id
    shared = add_note(ann.workspace, "ours").note.id
    ann.sync()
    bob.sync()
    assert bob.texts() == ["ours"]
    replace_note(ann.workspace, shared, {"visibility": "me"})
    ann.sync()
    bob.sync()
    assert (bob.texts(), ann.texts()) == ([], ["only mine", "ours"])
    assert "only mine" not in remote.git("log", "-p", "--all", "--format=")
    assert f"{kept}  fact" in cli("memory", "list", cwd=ann.repo.path).out
    assert "for me" in cli("memory", "list").out
    assert cli("memory", "edit", kept, "--visibility", "org").code == ExitCode.OK
    assert '"visibility": "org"' in cli("memory", "list", "--json").out
    ann.sync()
    bob.sync()
    assert bob.texts() == ["only mine"]
