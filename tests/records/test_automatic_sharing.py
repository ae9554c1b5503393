"""Sharing after the user's own fetches and pushes."""

import subprocess

import pytest

from gitmem.actions.doctor import WARN, examine_repository
from gitmem.freshness.run_log import FAILED, read_entries
from gitmem.locks import writer_lock
from gitmem.paths import SHARING, SHARING_WANTED
from gitmem.records.automatic_sharing import share_after
from gitmem.records.notes import add_note
from gitmem.records.sharing_place import choose_place
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo, isolated_environment
from tests.hooks.test_background import await_true
from tests.hooks.worlds import FILE_HOOKS, PROGRAM
from tests.indexes import index
from tests.install.test_hook_setup import install
from tests.records.sharing_clones import Clone


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the variables that sharing sets in its process."""
    for name in ("GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GCM_INTERACTIVE",
                 "GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME"):  # fmt: skip
        monkeypatch.setenv(name, "")


def switch_on(clone: Clone) -> None:
    clone.repo.git("config", "gitmem.autoShare", "true")
    clone.workspace = open_workspace(clone.repo.path, {})


def written(remote: Repo) -> list[str]:
    """Return the subjects of the commits of writers on a remote."""
    return remote.git("for-each-ref", "--format=%(subject)", "refs/gitmem").split("\n")


def test_a_push_of_the_user_shares_records(remote: Repo, ann: Clone, bob: Clone) -> None:
    add_note(ann.workspace, "one")
    choose_place(ann.workspace)
    assert not share_after(ann.workspace, pushes=True), "it is off by default"
    switch_on(ann)
    assert not share_after(ann.workspace, pushes=False), "there was neither a fetch nor a push"
    assert share_after(ann.workspace, pushes=True)
    # A clone whose user never decided to share pulls only.
    add_note(bob.workspace, "two")
    switch_on(bob)
    bob.repo.git("fetch", "-q", "origin")
    assert share_after(bob.workspace, pushes=False)
    assert bob.texts() == ["one", "two"]
    assert not share_after(bob.workspace, pushes=False), "a fetch counts once"
    assert len(written(remote)) == 1


def test_without_a_network_nothing_is_said(ann: Clone, capfd: pytest.CaptureFixture[str]) -> None:
    switch_on(ann)
    ann.repo.git("remote", "set-url", "origin", "https://127.0.0.1:1/gone.git")
    add_note(ann.workspace, "one")
    assert share_after(ann.workspace, pushes=True)
    assert capfd.readouterr() == ("", "")


def test_one_process_shares_and_takes_the_requests_of_others(ann: Clone, bob: Clone) -> None:
    add_note(bob.workspace, "one")
    bob.sync()
    switch_on(ann)
    folder = ann.workspace.location.common_dir
    with writer_lock(folder / SHARING, wait=False):
        assert not share_after(ann.workspace, pushes=True)
        assert ann.texts() == []
    assert (folder / SHARING_WANTED).exists()
    assert share_after(ann.workspace, pushes=True)
    assert not (folder / SHARING_WANTED).exists()
    assert ann.texts() == ["one"]


def test_what_ends_the_sharing_in_the_background_is_logged(ann: Clone) -> None:
    index(ann.repo)
    switch_on(ann)
    ann.repo.git("fetch", "-q", "origin")
    (ann.workspace.location.common_dir / SHARING).mkdir()  # in place of the lock
    subprocess.run([*PROGRAM, "hook", "post-commit"], cwd=ann.repo.path, env=isolated_environment(), check=True)
    await_true(lambda: any(entry.event == "sharing" for entry in read_entries(ann.workspace.paths)))
    last = read_entries(ann.workspace.paths)[-1]
    assert (last.outcome, SHARING in last.message) == (FAILED, True)
    check = next(check for check in examine_repository(ann.repo.path, {}) if check.name == "background")
    assert (check.state, check.remedy) == (WARN, "gitmem sync")


def test_the_hook_of_a_push_shares_in_the_background(remote: Repo, ann: Clone) -> None:
    add_note(ann.workspace, "one")
    choose_place(ann.workspace)
    switch_on(ann)
    install(ann.repo, PROGRAM, FILE_HOOKS)
    ann.repo.commit({"a.txt": "a\n"})
    pushed = ann.repo.git("push", "origin", "HEAD:refs/heads/work")
    assert "gitmem" not in pushed
    await_true(lambda: written(remote) == ["records"])
