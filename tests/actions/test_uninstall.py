"""After `uninstall` a repository equals byte for byte the one before `init`."""

import hashlib
import shutil
from pathlib import Path

import pytest

from gitmem.actions.index_refs import FETCHED, INDEX_REFS
from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error, damage, make_sample, segment_files


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the mode and a hash of the content of every path below a folder."""
    entries = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        mode = f"{path.lstat().st_mode:o}"
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes().hex() if path.is_file() else ""
        entries[name] = f"{mode} {hashlib.sha256(content.encode()).hexdigest()}"
    return entries


EXCLUDES = {"as git makes it": None, "none": b"", "no line feed at its end": b"*.bak", "no folder": b"\0"}


@pytest.mark.parametrize("exclude", EXCLUDES)
def test_the_repository_is_byte_for_byte_as_before(cli: Cli, tmp_path: Path, exclude: str) -> None:
    repo = make_sample(tmp_path / "repo")
    info = repo.path / ".git" / "info"
    content = EXCLUDES[exclude]
    if exclude == "no folder":
        shutil.rmtree(info)
    elif exclude == "none":
        (info / "exclude").unlink()
    elif content is not None:
        (info / "exclude").write_bytes(content)
    before = fingerprint(repo.path)
    assert cli("init", cwd=repo.path).code == 0
    assert repo.git("status", "--porcelain") == "?? .mcp.json"
    for args in (["query", "cookie"], ["query", "--rev", "v1", "cookie"], ["status"], ["verify"], ["gc"]):
        assert cli(*args, cwd=repo.path).code == 0
    outcome = cli("uninstall", "--yes", cwd=repo.path)
    assert outcome.out == f"removed {repo.path}/.gitmem and the hooks and the entry in .mcp.json\n"
    assert fingerprint(repo.path) == before


def test_a_bare_repository_is_unchanged(cli: Cli, own: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    own.git("clone", "-q", "--bare", str(own.path), str(bare))
    before = fingerprint(bare)
    assert cli("init", cwd=bare).code == 0
    assert cli("uninstall", "--yes", cwd=bare).code == 0
    assert fingerprint(bare) == before


def test_refs_of_fetched_rows_are_deleted(cli: Cli, own: Repo, tmp_path: Path) -> None:
    remote = Repo.init(tmp_path / "remote", "--bare")
    own.git("remote", "add", "origin", str(remote.path))
    own.git("push", "--quiet", "-u", "origin", "main")
    assert cli("push", "--index", cwd=own.path).code == 0
    kept = own.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")
    assert own.git("for-each-ref", FETCHED) != ""
    assert cli("uninstall", "--yes", cwd=own.path).code == 0
    assert own.git("for-each-ref", FETCHED) == ""
    assert own.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags") == kept
    # The rows that others can take are not this clone's to delete.
    assert remote.git("for-each-ref", INDEX_REFS) != ""


def test_a_linked_worktree_removes_the_shared_index(cli: Cli, own: Repo) -> None:
    own.git("worktree", "add", "-q", "--detach", str(own.path.parent / "side"))
    assert cli("uninstall", "--yes", cwd=own.path.parent / "side").code == 0
    assert not (own.path / ".gitmem").exists()


def test_without_an_index_nothing_changes(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    before = fingerprint(repo.path)
    outcome = cli("uninstall", "--yes", cwd=repo.path)
    assert (outcome.code, outcome.out) == (0, "there is no index here; nothing was changed\n")
    assert fingerprint(repo.path) == before


@pytest.mark.parametrize("state", ["manifest", "segment", "no manifest", "no token", "empty", "half-made"])
def test_a_damaged_or_incomplete_index_is_removed_too(cli: Cli, own: Repo, state: str) -> None:
    index = own.path / ".gitmem"
    if state == "manifest":
        (index / "manifest").write_bytes(b"garbage")
    elif state == "segment":
        damage(segment_files(own)[0], 20)
    elif state == "no manifest":
        (index / "manifest").unlink()
    elif state == "no token":
        for file in index.glob("gitmem-*"):
            file.unlink()
    else:
        shutil.rmtree(index)
        index.mkdir()
        if state == "half-made":
            (index / ".manifest.123.tmp").write_bytes(b"")
            (index / "segments").mkdir()
    assert cli("uninstall", "--yes", cwd=own.path).code == 0
    assert not index.exists()
    assert ".gitmem" not in (own.path / ".git" / "info" / "exclude").read_text()
    assert not list((own.path / ".git").glob("gitmem*"))


def test_a_folder_with_foreign_files_is_kept(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    (repo.path / ".gitmem").mkdir()
    (repo.path / ".gitmem" / "diary.txt").write_text("dear diary")
    assert_error(cli("uninstall", "--yes", cwd=repo.path), ExitCode.FAILED, "`diary.txt`, which gitmem did not write")
    assert (repo.path / ".gitmem" / "diary.txt").read_text() == "dear diary"


def test_a_link_inside_the_index_is_removed_and_not_followed(cli: Cli, own: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("keep me")
    shutil.rmtree(own.path / ".gitmem" / "views")
    (own.path / ".gitmem" / "views").symlink_to(outside)
    assert cli("uninstall", "--yes", cwd=own.path).code == 0
    assert (outside / "precious").read_text() == "keep me"
    assert not (own.path / ".gitmem").exists()


def test_uninstall_asks_for_confirmation(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_error(cli("uninstall", cwd=own.path), ExitCode.USAGE, "without a terminal", "--yes")
    for answer, code in ((b"n\n", 1), (b"y\n", 0)):
        monkeypatch.setattr("gitmem.cli.confirmation.is_interactive", lambda: True)
        outcome = cli("uninstall", cwd=own.path, stdin=answer)
        assert outcome.code == code
    assert not (own.path / ".gitmem").exists()


def add_note(cli: Cli, repo: Repo) -> None:
    assert cli("memory", "add", "Deploys happen on Tuesdays.", cwd=repo.path).code == 0


def test_an_export_without_an_index_does_not_say_that_nothing_was_changed(cli: Cli, tmp_path: Path) -> None:
    repo = make_sample(tmp_path / "repo")
    add_note(cli, repo)
    target = tmp_path / "memory.jsonl"
    outcome = cli("uninstall", "--yes", "--export", str(target), cwd=repo.path)
    assert outcome.out == f"there is no index here\nexported the memory to {target} and removed it\n"
    assert "Deploys happen" in target.read_text()


def test_the_memory_stays_and_is_named(cli: Cli, own: Repo) -> None:
    add_note(cli, own)
    outcome = cli("uninstall", "--yes", cwd=own.path)
    assert "kept the memory: 1 record in refs/gitmem/memory\n" in outcome.out
    assert "gitmem uninstall --export memory.jsonl" in outcome.out
    assert "Deploys happen" in cli("memory", "export", cwd=own.path).out


def test_the_memory_is_exported_and_removed_on_request(cli: Cli, own: Repo, tmp_path: Path) -> None:
    add_note(cli, own)
    exported = cli("memory", "export", cwd=own.path).out
    file = tmp_path / "memory.jsonl"
    assert cli("uninstall", "--yes", "--export", str(file), cwd=own.path).code == 0
    assert file.read_text() == exported
    assert not (own.path / ".gitmem").exists()
    assert cli("memory", "export", cwd=own.path).out == ""
    objects = own.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").splitlines()
    blobs = [oid for oid, _, kind in (line.partition(" ") for line in objects) if kind == "blob"]
    assert not any("Deploys happen" in own.git("cat-file", "blob", oid) for oid in blobs if oid)
    assert cli("memory", "import", str(file), cwd=own.path).out == "imported 1 record, 0 unchanged\n"


@pytest.mark.parametrize("place", ["existing", ".gitmem/memory.jsonl", "no/such/folder.jsonl"])
def test_an_export_that_would_lose_something_is_refused_before_anything_is_removed(
    cli: Cli, own: Repo, place: str
) -> None:
    add_note(cli, own)
    (own.path / "existing").write_text("precious")
    outcome = cli("uninstall", "--yes", "--export", place, cwd=own.path)
    assert_error(outcome, ExitCode.USAGE, place.rpartition("/")[0])
    assert (own.path / ".gitmem" / "manifest").exists()
    assert (own.path / "existing").read_text() == "precious"
    assert cli("memory", "export", cwd=own.path).out


@pytest.mark.parametrize("answer", ["", "memory.jsonl"])
def test_on_a_terminal_the_export_is_offered(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    add_note(cli, own)
    monkeypatch.setattr("gitmem.cli.confirmation.is_interactive", lambda: True)
    outcome = cli("uninstall", cwd=own.path, stdin=b"y\n" + answer.encode() + b"\n")
    assert outcome.code == 0, outcome
    assert "the memory has 1 record" in outcome.err
    assert (own.path / "memory.jsonl").exists() == bool(answer)
    assert bool(cli("memory", "export", cwd=own.path).out) == (not answer)


def test_files_that_still_call_gitmem_are_named(cli: Cli, own: Repo) -> None:
    own.write({"lefthook-local.yml": "post-commit:\n  commands:\n    gitmem:\n      run: gitmem hook post-commit\n"})
    assert f"`{own.path}/lefthook-local.yml` still calls gitmem" in cli("uninstall", "--yes", cwd=own.path).err
