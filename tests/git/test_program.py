"""Running of git: its environment, actions that it must not take, and error messages."""

import hashlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gitmem.errors import GitFailed, GitmemError
from gitmem.git.locate import locate
from gitmem.git.program import first_error_line, run_git, run_network_git
from gitmem.git.trees import read_tree
from tests.git.hanging_ssh import HangingSsh
from tests.gitrepo import MakeRepo, unmeasured_environment

HOSTILE = {
    "GIT_DIR": "{other}/.git",
    "GIT_WORK_TREE": "{other}",
    "GIT_INDEX_FILE": "{other}/.git/index.lock",
    "GIT_OBJECT_DIRECTORY": "{other}/.git/objects",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{other}/.git/objects",
    "GIT_COMMON_DIR": "{other}/.git",
    "GIT_NAMESPACE": "elsewhere",
    "GIT_CEILING_DIRECTORIES": "{repo}",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.worktree",
    "GIT_CONFIG_VALUE_0": "{other}",
    "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
    "GIT_REPLACE_REF_BASE": "refs/heads",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_GLOB_PATHSPECS": "1",
    "GIT_TRACE": "{other}/trace",
    "GIT_SHALLOW_FILE": "{other}/shallow",
    "GIT_PREFIX": "nowhere/",
}


def test_hostile_variables_change_neither_output_nor_repository(
    make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, other = make_repo("repo"), make_repo("other")
    repo.commit({"sub/a": "x"})
    other.commit({"b": "y"})
    before = _contents(repo.path), _contents(other.path)
    expected = locate(repo.path / "sub")
    entries = read_tree(expected, expected.head_tree or "")
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value.format(repo=repo.path, other=other.path))
    location = locate(repo.path / "sub")
    assert location == expected
    assert read_tree(location, location.head_tree or "") == entries
    assert (_contents(repo.path), _contents(other.path)) == before


def test_a_full_disk_is_reported_with_the_command_and_a_remedy(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    with pytest.raises(GitFailed, match=r"^git archive failed: write error: No space left on device$") as error:
        run_git(["-c", "core.fsync=all", "archive", "--output=/dev/full", "HEAD"], cwd=repo.path)
    assert error.value.hint.startswith("free some space")


@pytest.mark.parametrize("check", [True, False])
def test_a_folder_that_is_removed_during_a_command_is_named(make_repo: MakeRepo, check: bool) -> None:
    folder = make_repo().path / "gone"
    folder.mkdir()
    alias = ["-c", f"alias.vanish=!rm -r {folder} && exit 128", "vanish"]
    with pytest.raises(GitFailed, match=f"^the folder `{folder}` no longer exists$"):
        run_git(alias, cwd=folder, check=check)


def test_a_protocol_that_the_configuration_allows_stays_forbidden(make_repo: MakeRepo) -> None:
    """Without `GIT_ALLOW_PROTOCOL`, git before 2.45 would fetch missing objects of a partial clone."""
    repo, other = make_repo("repo"), make_repo("other")
    other.commit({"a": "x"})
    repo.git("config", "protocol.file.allow", "always")
    result = run_git(["ls-remote", other.path.as_uri()], cwd=repo.path, check=False)
    assert result.stdout == b""
    assert "transport 'file' not allowed" in result.stderr


def test_configuration_from_the_environment_is_ignored(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "99999999999")
    repo = make_repo()
    assert locate(repo.path).worktree == repo.path
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "alias.trap")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "!exit 3")
    assert run_git(["config", "alias.trap"], cwd=repo.path, check=False).stdout == b""


def test_nothing_is_fetched_even_if_configuration_allows_the_protocol(make_repo: MakeRepo) -> None:
    source, repo = make_repo("source"), make_repo("repo")
    source.commit({"a": "x"})
    repo.git("config", "protocol.file.allow", "always")
    with pytest.raises(GitFailed, match="not allowed"):
        run_git(["fetch", source.path.as_uri()], cwd=repo.path)


def test_no_file_system_monitor_is_started(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    marker = repo.path / "started"
    repo.git("config", "core.fsmonitor", f"touch {marker}; false")
    run_git(["ls-files", "--modified"], cwd=repo.path)
    run_git(["status"], cwd=repo.path)
    assert not marker.exists()


def test_status_does_not_rewrite_the_index(make_repo: MakeRepo) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    (repo.path / "a").write_text("x")
    before = (repo.path / ".git" / "index").stat().st_mtime_ns
    run_git(["status", "--porcelain"], cwd=repo.path)
    assert (repo.path / ".git" / "index").stat().st_mtime_ns == before


def test_a_failure_contains_gits_message(make_repo: MakeRepo) -> None:
    with pytest.raises(GitFailed, match="git cat-file failed: Not a valid object name nothing"):
        run_git(["cat-file", "-p", "nothing"], cwd=make_repo().path)
    assert run_git(["cat-file", "-e", "nothing"], cwd=make_repo().path, check=False).code == 128


def test_a_failure_without_message_contains_the_exit_code(make_repo: MakeRepo) -> None:
    with pytest.raises(GitFailed, match="exit code 1"):
        run_git(["config", "no.such.key"], cwd=make_repo().path)


def test_the_fatal_line_is_preferred() -> None:
    assert first_error_line("warning: a\nerror: b\nfatal: c\n") == "c"
    assert first_error_line("warning: a\nerror: b\n") == "b"
    assert first_error_line("hello\n") == "hello"


def test_a_missing_git_program_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitmemError, match="git program was not found") as caught:
        run_git(["version"])
    assert "install git" in caught.value.hint


def test_a_missing_folder_is_not_reported_as_a_missing_git(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="no longer exists"):
        run_git(["version"], cwd=tmp_path / "missing")


def test_the_query_path_imports_neither_pygit2_nor_numpy() -> None:
    import sys

    program = (
        "import sys, gitmem.git.locate, gitmem.git.objects, gitmem.git.trees, gitmem.git.revisions,"
        "gitmem.git.git_config, gitmem.git.attributes, gitmem.git.ignore, gitmem.git.excludes,"
        "gitmem.git.tracking, gitmem.git.reachability;"
        "print(sorted({'pygit2', 'numpy', 'difflib', 'tempfile', 'hashlib', 'shutil'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=unmeasured_environment(), capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def _contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
def test_an_interruption_ends_the_transport_of_git_too(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo, ssh = make_repo(), HangingSsh(tmp_path)
    repo.git("config", "core.sshCommand", str(ssh.program))
    main = threading.get_ident()

    def interrupt() -> None:
        ssh.await_started()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    former = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let programs in the background ignore it
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_network_git(
                ["ls-remote", "ssh://host.invalid/a.git"], git_dir=repo.path / ".git", cwd=repo.path, patience=60
            )
    finally:
        signal.signal(signal.SIGINT, former)
    thread.join()
    ssh.await_ended()
