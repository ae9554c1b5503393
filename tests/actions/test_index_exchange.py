"""Rows of an index that clones share through a remote: taken without embedding, checked, and never trusted."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.actions.index_exchange import pull_index, push_index
from gitmem.actions.index_refs import INDEX_REFS
from gitmem.actions.remote_check import verify_remote
from gitmem.actions.verify import verify
from gitmem.errors import GitmemError, UsageError
from gitmem.freshness.currency import is_current
from gitmem.indexing import row_packs
from gitmem.records.notes import add_note
from gitmem.store.manifest import find_manifest
from gitmem.store.packed_file import PackedContainer
from gitmem.store.rows import Rows
from gitmem.store.segment import MAGIC
from gitmem.workspace import open_workspace
from tests.actions.index_forgery import (
    FORGERIES,
    STRANGER,
    forge_vector,
    named_pack,
    pack_files,
    publish,
    publish_tree,
    stranger_ref,
)
from tests.actions.index_team import Team, make_team, read_rows
from tests.gitrepo import Repo
from tests.indexes import InlinePool, dump_outcomes, dump_rows, index, python_file, search, snapshot_of, workspace_of


@pytest.fixture
def team(tmp_path: Path, fake_model: type[InlinePool]) -> Team:
    return make_team(tmp_path)


def test_a_clone_takes_all_rows_and_embeds_only_the_sample(team: Team, fake_model: type[InlinePool]) -> None:
    pushed = push_index(team.ann_workspace())
    assert (pushed.blobs, pushed.packs, pushed.notices) == (3, 1, [])
    bob = team.clone("bob")
    workspace = workspace_of(bob)
    fake_model.digested = 0
    pulled = pull_index(workspace)
    assert (pulled.blobs, pulled.missing, pulled.checked, pulled.embedded) == (3, 0, 3, True)
    assert fake_model.digested == pulled.checked
    assert is_current(workspace, str(workspace.location.head_tree))
    assert dump_rows(snapshot_of(bob)) == dump_rows(snapshot_of(team.ann))
    assert dump_outcomes(snapshot_of(bob)) == dump_outcomes(snapshot_of(team.ann))
    assert search(bob, "sign_cookie").hits[0][0].path == "src/cookies.py"
    assert verify(workspace).digest == pushed.digest == verify(team.ann_workspace()).digest
    assert pull_index(workspace)._replace(remote="") == pulled._replace(
        remote="", blobs=0, rows=0, bytes=0, checked=0, vectors=0
    )


def test_a_second_push_has_only_what_nobody_pushed(team: Team) -> None:
    push_index(team.ann_workspace())
    assert push_index(team.ann_workspace()).blobs == 0
    team.ann.commit({"src/more.py": python_file("more")})
    team.ann.git("push", "--quiet")
    index(team.ann)
    assert push_index(team.ann_workspace()).blobs == 1
    bob = team.clone("bob")
    assert pull_index(workspace_of(bob)).blobs == 4
    assert push_index(workspace_of(bob)).blobs == 0


def test_nothing_private_is_pushed(team: Team) -> None:
    """No note, no uncommitted file, and no commit that the remote lacks leaves the clone."""
    workspace = team.ann_workspace()
    add_note(workspace, "The vault is below the stairs.")
    team.ann.commit({"secret.py": python_file("unpushed")})
    team.ann.write({"draft.py": python_file("uncommitted")})
    index(team.ann, uncommitted=True)
    workspace = team.ann_workspace()
    assert search(team.ann, "uncommitted", workspace, refresh=False).hits
    pushed = push_index(workspace)
    assert (pushed.blobs, pushed.commit) == (3, team.ann.oid("HEAD~1"))
    refs = team.remote.git("for-each-ref", "--format=%(refname)", INDEX_REFS).split()
    names = team.remote.git("ls-tree", "--name-only", refs[0]).split()
    files = [team.remote.git_bytes("cat-file", "blob", f"{refs[0]}:{name}") for name in names]
    # What a reader inflates counts as well.
    opened = [PackedContainer(Path("pack"), MAGIC, data) for data in files if data.startswith(MAGIC)]
    packs = b"".join([*files, *(bytes(section.all()) for pack in opened for section in pack._sections.values())])
    assert b"sign_cookie" in packs
    assert not any(word in packs for word in (b"unpushed", b"uncommitted", b"vault"))


def test_a_branch_that_the_remote_lacks_is_refused(team: Team, make_repo: Callable[..., Repo]) -> None:
    other = make_repo("other")
    other.commit({"a.py": "a = 1\n"})
    other.git("remote", "add", "origin", str(team.remote.path))
    index(other)
    with pytest.raises(UsageError, match="`origin` has no commit of this branch"):
        push_index(workspace_of(other))


@pytest.mark.parametrize("forge", FORGERIES)
def test_forged_rows_are_found_and_left_out(team: Team, forge: Callable[[Rows], Rows], tmp_path: Path) -> None:
    workspace = workspace_of(team.clone("bob"))
    publish(team.remote, workspace, pack_files(forge(read_rows(team)), tmp_path / "packs"))
    pulled = pull_index(workspace)
    assert (pulled.blobs, pulled.missing) == (0, 3)
    assert len(pulled.notices) == 1
    assert STRANGER in pulled.notices[0]
    assert verify_remote(workspace, "origin").faults
    # What honest writers share is still taken.
    push_index(team.ann_workspace())
    assert pull_index(workspace).blobs == 3
    assert dump_rows(snapshot_of(Repo(tmp_path / "bob"))) == dump_rows(snapshot_of(team.ann))


def test_honest_rows_pass_the_check_of_all(team: Team) -> None:
    push_index(team.ann_workspace())
    checked = verify_remote(workspace_of(team.clone("bob")), "origin")
    assert (checked.faults, checked.packs, checked.blobs, checked.checked, checked.digests) == ([], 1, 3, 3, 1)
    assert checked.vectors == len(read_rows(team))


def test_a_forged_digest_and_forged_leaves_are_found(team: Team, tmp_path: Path) -> None:
    workspace = workspace_of(team.clone("bob"))
    digest = push_index(team.ann_workspace()).digest
    assert digest is not None
    forged = digest._replace(rows="0" * 64)
    files = pack_files(read_rows(team), tmp_path / "packs")
    (table,) = (name for name in files if name.endswith(".leaves"))
    for wrong in ({f"{digest.key}.digest": json.dumps(forged._asdict()).encode()}, {table: b"GMLEAVES"}):
        publish(team.remote, workspace, {**files, **wrong})
        assert [fault for fault in verify_remote(workspace, "origin").faults if STRANGER in fault]


@pytest.mark.parametrize("data", [b"", b"x" * 5000, b"GITMEMSG" + bytes(100)])
def test_packs_that_are_none_are_left_out(team: Team, data: bytes) -> None:
    workspace = workspace_of(team.clone("bob"))
    push_index(team.ann_workspace())
    publish(team.remote, workspace, named_pack(data))
    pulled = pull_index(workspace)
    assert pulled.blobs == 3 or [notice for notice in pulled.notices if STRANGER in notice]
    assert pulled.missing == 0


def test_hostile_refs_cost_one_line(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = workspace_of(team.clone("bob"))
    files = pack_files(read_rows(team), tmp_path / "packs")
    wrong_name = {f"{'0' * 40}.rows": data for name, data in files.items() if name.endswith(".rows")}
    publish(team.remote, workspace, wrong_name)
    assert "does not match its name" in "".join(pull_index(workspace).notices)
    # A name that leads elsewhere is not a file of a pack, and neither is a symbolic link.
    publish(team.remote, workspace, files, mode="120000")
    assert pull_index(workspace).blobs == 0
    # Nested trees may stand for any number of files; only the first one is read.
    tree = team.remote.git("mktree", stdin=b"")
    for _ in range(30):
        tree = team.remote.git("mktree", stdin="".join(f"040000 tree {tree}\t{name}\n" for name in "ab").encode())
    publish_tree(team.remote, workspace, tree)
    assert pull_index(workspace).blobs == 0
    blob = team.remote.git("hash-object", "-w", "--stdin", stdin=b"no commit")
    team.remote.git("update-ref", stranger_ref(workspace), blob)
    assert "not a commit with a list of files" in "".join(pull_index(workspace).notices)
    monkeypatch.setattr(row_packs, "MAX_PACK_BYTES", 100)
    publish(team.remote, workspace, files)
    assert "the limit is 100" in "".join(pull_index(workspace).notices)


def test_indexes_of_other_versions_are_skipped_and_counted(team: Team) -> None:
    push_index(team.ann_workspace())
    bob = team.clone("bob")
    bob.git("config", "gitmem.chunkMaxBytes", "900")
    pulled = pull_index(workspace_of(bob))
    assert (pulled.blobs, pulled.notices) == (0, ["skipped 1 index of another model or version"])


def test_own_rows_stay(team: Team) -> None:
    push_index(team.ann_workspace())
    bob = team.clone("bob")
    bob.git("checkout", "--quiet", "--orphan", "part")
    bob.git("rm", "--quiet", "-r", "--cached", "docs", "src/routes.py")
    bob.git("commit", "--quiet", "-m", "part")
    index(bob)
    before = dump_rows(snapshot_of(bob))
    bob.git("checkout", "--quiet", "--force", "main")
    pulled = pull_index(workspace_of(bob))
    assert (pulled.blobs, pulled.missing) == (2, 0)
    assert before < dump_rows(snapshot_of(bob))


def test_an_index_of_another_version_is_replaced_only_by_a_complete_one(team: Team) -> None:
    push_index(team.ann_workspace())
    bob = team.clone("bob")
    bob.commit({"own.py": python_file("own")})
    environment = {"GITMEM_CHUNK_MAX_BYTES": "900"}
    index(bob, open_workspace(bob.path, environment))
    before = find_manifest(workspace_of(bob).paths.manifest)
    with pytest.raises(GitmemError, match="1 blobs of HEAD are not shared"):
        pull_index(workspace_of(bob))
    assert find_manifest(workspace_of(bob).paths.manifest) == before
    bob.git("reset", "--quiet", "--hard", "HEAD~1")
    assert pull_index(workspace_of(bob)).missing == 0
    assert dump_rows(snapshot_of(bob)) == dump_rows(snapshot_of(team.ann))


def read_files(team: Team, ref: str) -> dict[str, bytes]:
    """Return the files of a writer on the remote."""
    names = team.remote.git("ls-tree", "--name-only", ref).splitlines()
    run = ["git", "-C", str(team.remote.path), "cat-file", "blob"]
    return {name: subprocess.run([*run, f"{ref}:{name}"], check=True, capture_output=True).stdout for name in names}


def test_a_damaged_pack_is_pushed_again(team: Team) -> None:
    pushed = push_index(team.ann_workspace())
    (ref,) = team.remote.git("for-each-ref", "--format=%(refname)", INDEX_REFS).splitlines()
    files = read_files(team, ref)
    broken = {name: data[:-1] + bytes([data[-1] ^ 1]) if name.endswith(".rows") else data
              for name, data in files.items()}  # fmt: skip
    publish(team.remote, team.ann_workspace(), broken)
    team.remote.git("update-ref", ref, stranger_ref(team.ann_workspace()))
    team.remote.git("update-ref", "-d", stranger_ref(team.ann_workspace()))
    assert pull_index(workspace_of(team.clone("bob"))).blobs == 0
    again = push_index(team.ann_workspace())
    assert again.blobs == pushed.blobs
    assert [note.partition(" ")[0] for note in again.notices] == ["readers"]
    cat = pull_index(workspace_of(team.clone("cat")))
    assert (cat.blobs, cat.notices) == (pushed.blobs, [])
    assert push_index(team.ann_workspace()).blobs == 0


def test_a_forged_pack_with_honest_leaves_keeps_nobody_from_pushing(team: Team, tmp_path: Path) -> None:
    rows = read_rows(team)
    honest, forged = (pack_files(each, tmp_path / name) for each, name in ((rows, "one"), (forge_vector(rows), "two")))
    (pack,) = (name for name in forged if name.endswith(".rows"))
    (table,) = (data for name, data in honest.items() if name.endswith(".leaves"))
    publish(team.remote, team.ann_workspace(), {pack: forged[pack], pack.replace(".rows", ".leaves"): table})
    pushed = push_index(team.ann_workspace())
    assert pushed.blobs == 3
    assert "its published leaves are not those of its rows" in pushed.notices[0]
