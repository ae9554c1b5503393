"""`gitmem index URL`, with a real git server behind TLS and a password."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.git.forge import HAS_OPENSSL, PASSWORD, Forge, open_forge
from tests.gitrepo import Repo
from tests.indexes import python_file
from tests.sample import Cli, Outcome, assert_error

pytestmark = [
    pytest.mark.usefixtures("fake_model", "data"),
    pytest.mark.skipif(not HAS_OPENSSL, reason="needs openssl"),
]


INDEX = ("index", "--json")
"""Command that announces nothing, so that an error is its only output."""


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    """Run one server for all tests of the module."""
    folder = tmp_path_factory.mktemp("forge")
    repo = Repo.init(folder / "source")
    repo.commit({"old.py": python_file("load_cookie")})
    repo.git("tag", "-a", "v1", "-m", "first")
    repo.commit({"new.py": python_file("sign_cookie")})
    repo.git("branch", "side", "HEAD~1")
    with open_forge(folder) as forge:
        forge.publish(repo, "team/cookies")
        forge.publish(repo, "private/cookies")
        Repo.init(forge.folder / "team/empty.git", "--bare")
        yield forge


@pytest.fixture
def forge(_server: Forge, monkeypatch: pytest.MonkeyPatch) -> Forge:
    """Return the server without faults, and allow its host."""
    _server.fault = ""
    monkeypatch.setenv("GIT_SSL_CAINFO", str(_server.certificate))
    monkeypatch.setenv("GITMEM_ALLOWED_HOSTS", f"github.com, {_server.host}")
    return _server


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep the user's data in a folder of the test, behind a symbolic link."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "gitmem"


@pytest.fixture
def run(cli: Cli, tmp_path: Path) -> Cli:
    """Run a command in a folder outside of any repository."""

    def call(*args: str) -> Outcome:
        return cli(*args, cwd=tmp_path)

    return call


def clones(data: Path) -> list[Path]:
    """Return the clones, and everything else in their folder that is not a lock."""
    folder = data / "remotes"
    return [place for place in folder.iterdir() if place.suffix != ".lock"] if folder.is_dir() else []


def found(run: Cli, name: str, query: str = "sign") -> list[str]:
    return run("query", "-l", "--mode", "lexical", "--repo", name, query).out.split()


def test_a_url_is_cloned_indexed_and_searched_by_its_name(forge: Forge, run: Cli, data: Path) -> None:
    outcome = run("index", forge.url("team/cookies.git"))
    assert (outcome.code, outcome.err) == (ExitCode.OK, f"cloning {forge.url('team/cookies.git')}\n")
    assert outcome.out.startswith("indexed main ")
    assert found(run, "cookies") == ["cookies:new.py"]
    [clone] = clones(data)
    git = Repo(clone / "cookies")
    assert git.git("rev-parse", "--is-bare-repository", "--is-shallow-repository").split() == ["true", "true"]
    assert not (git.path / "hooks").exists()


def test_the_same_url_fetches_new_commits_in_any_of_its_forms(
    forge: Forge, run: Cli, data: Path, tmp_path: Path
) -> None:
    source = Repo.init(tmp_path / "source")
    source.commit({"a.py": python_file("first_thing")})
    forge.publish(source, "team/moving")
    assert run("index", forge.url("team/moving"), "--name", "mine").code == ExitCode.OK
    source.commit({"a.py": python_file("other_thing")})
    source.git("commit", "--amend", "--quiet", "--message", "replaced")
    forge.publish(source, "team/moving")
    again = run("index", forge.url("team/moving.git") + "/")
    assert (again.code, again.err.split()[0]) == (ExitCode.OK, "fetching")
    assert found(run, "mine", "other") == ["mine:a.py"]
    assert len(clones(data)) == 1
    assert run("index", forge.url("team/moving")).out.startswith("up to date: main")


def test_a_revision_is_a_branch_a_tag_or_a_commit(forge: Forge, run: Cli) -> None:
    url = forge.url("team/cookies")
    commit = Repo(forge.folder / "team/cookies.git").git("rev-parse", "main~1")
    for rev, label in (("main", "main "), ("side", "side "), ("v1", "detached "), (commit, "detached ")):
        outcome = run("index", url, "--rev", rev)
        assert outcome.code == ExitCode.OK, outcome.err
        assert label in outcome.out.splitlines()[0], rev
        names = {"cookies:old.py", "cookies:new.py"} if rev == "main" else {"cookies:old.py"}
        assert set(found(run, "cookies", "sign load")) == names
    assert_error(
        run("index", "--json", url, "--rev", "v9"), ExitCode.USAGE, "has no branch or tag `v9`", "git ls-remote"
    )


def test_history_is_fetched_on_demand(forge: Forge, run: Cli, data: Path) -> None:
    url = forge.url("team/cookies")
    assert run("index", url).code == ExitCode.OK
    [clone] = clones(data)
    git = Repo(clone / "cookies")
    assert git.git("rev-list", "--count", "HEAD") == "1"
    assert run("index", url, "--no-shallow", "--history").code == ExitCode.OK
    assert git.git("rev-list", "--count", "HEAD") == "2"
    assert git.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags").split() == [
        "refs/heads/main", "refs/heads/side", "refs/tags/v1"]  # fmt: skip
    # An existing clone stays as it is, unless the other form is asked for.
    assert run("index", url, "--fresh").code == ExitCode.OK
    assert git.git("rev-list", "--count", "HEAD") == "2"
    assert run("index", url, "--shallow").code == ExitCode.OK
    assert git.git("rev-list", "--count", "HEAD") == "1"


@pytest.mark.parametrize("by", ["variable", "helper"])
def test_a_private_repository_is_opened_by_a_token(
    forge: Forge, run: Cli, data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, by: str
) -> None:
    url = forge.url("private/cookies")
    assert_error(run(*INDEX, url), ExitCode.FAILED, "could not read Username", "GITMEM_GIT_TOKEN")
    assert clones(data) == []
    if by == "variable":
        monkeypatch.setenv("GITMEM_GIT_TOKEN", PASSWORD)
    else:
        store = tmp_path / "credentials"
        store.write_text(f"https://x-access-token:{PASSWORD}@{forge.host.replace(':', '%3a')}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
        (tmp_path / "gitconfig").write_text(f"[credential]\n\thelper = store --file={store}\n")
    outcome = run("index", url)
    assert outcome.code == ExitCode.OK, outcome.err
    assert found(run, "cookies") == ["cookies:new.py"]
    if by == "variable":
        monkeypatch.setenv("GITMEM_GIT_TOKEN", "another-wrong-one")
        assert_error(run(*INDEX, url), ExitCode.FAILED, "Authentication failed", "GITMEM_GIT_TOKEN")
        assert found(run, "cookies") == ["cookies:new.py"]


def test_no_file_and_no_output_has_the_token(
    forge: Forge, run: Cli, data: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_GIT_TOKEN", PASSWORD)
    monkeypatch.setenv("GITMEM_LOG", "debug")
    monkeypatch.setenv("GIT_TRACE_CURL", str(tmp_path / "curl"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    outcomes = [run("index", forge.url("private/cookies"))]
    outcomes.append(run("query", "--repo", "cookies", f"sign_cookie {PASSWORD}"))
    monkeypatch.setenv("GITMEM_GIT_TOKEN", PASSWORD + "x")
    outcomes.append(run("index", forge.url("private/cookies")))
    outcomes.append(run("index", forge.url("private/absent"), "--name", "absent"))
    outcomes.append(run("index", f"https://{PASSWORD}@{forge.host}/private/cookies"))
    assert [outcome.code for outcome in outcomes] == [0, 0, 5, 5, 2]
    assert all(PASSWORD not in outcome.out + outcome.err for outcome in outcomes if outcome is not outcomes[1])
    files = [file for folder in (data, home, tmp_path) for file in folder.rglob("*") if file.is_file()]
    assert len(files) > 20
    assert [file for file in files if PASSWORD.encode() in file.read_bytes()] == []


def test_no_argument_of_git_has_the_token(
    forge: Forge, run: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A git that notes its arguments, before the real one.
    folder = tmp_path / "bin"
    folder.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (folder / "git").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {tmp_path}/arguments\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITMEM_GIT_TOKEN", PASSWORD)
    assert run("index", forge.url("private/cookies")).code == ExitCode.OK
    arguments = (tmp_path / "arguments").read_text()
    assert "GITMEM_GIT_TOKEN" in arguments
    assert PASSWORD not in arguments


def test_the_token_is_sent_to_no_other_host(forge: Forge, run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_GIT_TOKEN", PASSWORD)
    forge.fault, forge.target = "redirect", f"https://localhost:{forge.host.partition(':')[2]}"
    before = len(forge.requests)
    assert_error(
        run("index", "--json", forge.url("private/cookies")), ExitCode.FAILED, "302", "redirects to another URL"
    )
    assert len(forge.requests) == before + 1


def test_faults_of_the_server_leave_nothing_half(
    forge: Forge, run: Cli, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_HTTP_LOW_SPEED_TIME", "1")
    url = forge.url("team/cookies")
    for fault in ("cut", "hang"):
        forge.fault = fault
        assert_error(run(*INDEX, url), ExitCode.FAILED, "cannot be fetched", "")
        assert clones(data) == [], fault
    forge.fault = ""
    assert_error(run(*INDEX, forge.url("team/absent")), ExitCode.FAILED, "not found", "check the URL")
    assert_error(run(*INDEX, forge.url("team/empty")), ExitCode.FAILED, "no commit yet", "")
    assert run("index", url).code == ExitCode.OK
    forge.fault = "cut"
    Repo(forge.folder / "team/cookies.git").git("update-ref", "refs/heads/later", "refs/heads/main~1")
    assert run("index", url, "--fresh").code == ExitCode.FAILED
    assert found(run, "cookies") == ["cookies:new.py"]


def test_leftovers_of_a_killed_process_are_removed(forge: Forge, run: Cli, data: Path) -> None:
    url = forge.url("team/cookies")
    assert run("index", url).code == ExitCode.OK
    [clone] = clones(data)
    (clone / "cookies/shallow.lock").touch()
    (clone / "cookies/refs/heads/main.lock").touch()
    clone.with_name(f"{clone.name}.new-0123").mkdir()
    assert run("index", url, "--rev", "side").code == ExitCode.OK
    assert clones(data) == [clone]
    assert not list((clone / "cookies").rglob("*.lock"))


def test_removal_takes_the_clone_unless_it_has_records(forge: Forge, run: Cli, data: Path) -> None:
    url = forge.url("team/cookies")
    assert run("index", url).code == ExitCode.OK
    [clone] = clones(data)
    assert run("-C", str(clone / "cookies"), "memory", "add", "Cookies are signed.").code == ExitCode.OK
    assert run("repos", "remove", "cookies").code == ExitCode.OK
    assert clones(data) == [clone]
    assert run("index", url).code == ExitCode.OK
    assert "Cookies are signed." in run("-C", str(clone / "cookies"), "memory", "list").out
    assert run("repos", "remove", "cookies", "--all-data", "--yes").code == ExitCode.OK
    assert clones(data) == []
    assert json.loads(run("repos", "list", "--json").out)["repositories"] == []


def test_a_host_must_be_allowed_by_the_user(
    forge: Forge, cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITMEM_ALLOWED_HOSTS")
    url, before = forge.url("team/cookies"), len(forge.requests)
    hint = f'git config --global gitmem.allowedHosts "github.com, {forge.host}"'
    assert_error(cli("index", url, cwd=repo.path), ExitCode.USAGE, "is not allowed", hint)
    # A repository cannot allow it, as somebody else may have written its configuration.
    repo.git("config", "gitmem.allowedHosts", forge.host)
    assert_error(cli("index", url, cwd=repo.path), ExitCode.USAGE, "is not allowed", hint)
    assert len(forge.requests) == before


def test_options_that_a_url_does_not_have(forge: Forge, run: Cli, repo: Repo) -> None:
    url = forge.url("team/cookies")
    assert_error(
        run("index", "--json", url, "--uncommitted"), ExitCode.USAGE, "`--uncommitted` does not apply to a URL", "leave"
    )
    assert_error(
        run("index", "--json", url, "--dry-run"), ExitCode.USAGE, "`--dry-run` does not apply to a URL", "leave"
    )
    assert_error(run("index", str(repo.path), "--fresh"), ExitCode.USAGE, "apply to a URL", "gitmem index https")
    assert_error(run(*INDEX, url, "--name", "../x"), ExitCode.USAGE, "invalid name", "letters")


def test_a_name_is_given_to_a_folder_too(run: Cli, repo: Repo) -> None:
    assert run("index", str(repo.path), "--name", "own").code == ExitCode.OK
    assert found(run, "own", "a") == ["own:a.py"]


def test_a_killed_clone_leaves_no_repository(forge: Forge, data: Path, tmp_path: Path) -> None:
    forge.fault = "hang"
    before = len(forge.requests)
    process = subprocess.Popen([sys.executable, "-m", "gitmem", "index", forge.url("team/cookies")], cwd=tmp_path)
    while len(forge.requests) == before:
        assert process.poll() is None
    process.kill()
    process.wait()
    assert clones(data) == []
