"""The server is started as a client will start it, and what goes wrong is said with a remedy."""

import json
import os
import sys
from pathlib import Path

import pytest

from gitmem.actions.doctor import FAIL, OK, WARN, Check, examine_repository
from gitmem.actions.install import Installer
from gitmem.git.locate import locate
from gitmem.install.connection import client_path, find_program, try_connection
from tests.gitrepo import Repo
from tests.install.programs import use_path, write_program
from tests.sample import Cli

ANSWER = 'read line; echo \'{"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {"name": "x", "version": "1"}}}\''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a PATH without gitmem, as a client has it."""
    return use_path(tmp_path, monkeypatch)


def check_clients(path: Path) -> Check:
    """Return the check of the clients alone."""
    return next(check for check in examine_repository(path, dict(os.environ)) if check.name == "clients")


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (ANSWER, ""),
        (f"{ANSWER}; exec sleep 0", ""),
        ("echo hello", "answered `hello`, which is not MCP"),
        ('read line; echo \'{"id": 0, "error": {}}\'', "which is not MCP"),
        ("echo 'error: no such thing' >&2; echo 'hint: try' >&2; exit 3", "ended with code 3: error: no such thing"),
        ("exit 0", "ended with code 0"),
    ],
)
def test_a_program_is_judged_by_its_answer(folder: Path, script: str, problem: str) -> None:
    write_program(folder / "server", script)
    told = try_connection(["server", "mcp"], folder, os.environ)
    assert problem in told
    assert bool(problem) == bool(told)


def test_a_program_that_does_not_answer_is_given_up(folder: Path) -> None:
    write_program(folder / "server", "while read line; do :; done")
    assert try_connection(["server"], folder, os.environ, seconds=0.1) == "no answer within 0.1 seconds"


def test_a_missing_program_is_named(folder: Path) -> None:
    assert try_connection(["gitmem", "mcp"], folder, os.environ) == "`gitmem` is not on PATH"
    assert try_connection(["/opt/none"], folder, os.environ) == "`/opt/none` is not a program"


def test_the_server_itself_answers(folder: Path, tmp_path: Path) -> None:
    assert find_program(os.environ)[0].startswith(str(Path(sys.executable).parent))
    assert try_connection([*find_program(os.environ), "mcp"], tmp_path, os.environ) == ""
    assert folder.exists()


def test_the_path_of_a_client_has_no_active_environment(tmp_path: Path) -> None:
    active = {"VIRTUAL_ENV": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:/usr/bin:{Path(sys.executable).parent}"}
    assert client_path({"PATH": "/usr/bin:/bin"}) == "/usr/bin:/bin"
    assert str(tmp_path) not in client_path(active)
    write_program(tmp_path / "bin" / "gitmem", ANSWER)
    told = try_connection(["gitmem", "mcp"], tmp_path, active)
    assert told == "`gitmem` is on PATH only inside its virtual environment"


def test_init_from_a_virtual_environment_offers_the_absolute_command(cli: Cli, own: Repo, folder: Path) -> None:
    result = cli("init", "--no-hooks", cwd=own.path)
    assert result.code == 0
    assert "Claude Code cannot start the server of .mcp.json: `gitmem` is not on PATH" in result.err
    remedy = f"{find_program(os.environ)[0]} install claude --local"
    assert f"hint: {remedy}" in result.err
    check = check_clients(own.path)
    assert (check.state, check.remedy) == (WARN, remedy)
    # The remedy works, and no path of this machine is in the shared file.
    assert cli(*remedy.split()[1:], cwd=own.path).err == ""
    assert check_clients(own.path).state == OK
    assert json.loads((own.path / ".mcp.json").read_text())["mcpServers"]["gitmem"]["command"] == "gitmem"
    assert folder.exists()


def test_doctor_fails_for_an_installed_client_and_shows_a_remedy_that_works(cli: Cli, own: Repo, folder: Path) -> None:
    write_program(folder / "codex", "")
    result = cli("install", "codex", cwd=own.path)
    assert "hint: ln -s " in result.err
    check = check_clients(own.path)
    remedy = f"ln -s {find_program(os.environ)[0]} FOLDER/, with a FOLDER of your PATH"
    assert (check.state, check.remedy) == (FAIL, remedy)
    (folder / "gitmem").symlink_to(find_program(os.environ)[0])
    assert check_clients(own.path).state == OK


def test_the_entry_that_a_client_prefers_is_tried(cli: Cli, own: Repo, folder: Path) -> None:
    cli("-q", "install", "claude", cwd=own.path)
    write_program(folder.parent / "other" / "gitmem", "exit 7")
    cli("-q", "install", "claude", "--local", "--command", str(folder.parent / "other" / "gitmem"), cwd=own.path)
    (problem,) = Installer(locate(own.path), os.environ).find_problems()
    assert problem.message.endswith("~/.claude.json: ended with code 7")
    assert problem.remedy.startswith("gitmem uninstall claude, then gitmem install claude --local")


def test_entries_with_an_address_or_in_broken_files_are_not_tried(own: Repo) -> None:
    (own.path / ".mcp.json").write_text('{"mcpServers": {"gitmem": {"type": "http", "url": "https://example.org"}}}')
    (own.path / ".cursor").mkdir()
    (own.path / ".cursor" / "mcp.json").write_text("{")
    assert check_clients(own.path).state == OK


def test_no_command_of_a_clone_is_started(cli: Cli, own: Repo, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(own.path / "evil", "touch EVIL")
    write_program(own.path / "gitmem", "touch EVIL")
    monkeypatch.setenv("PATH", f".::{folder}")
    entry = {"command": "gitmem", "args": ["mcp"]}
    for hostile in ({"command": str(own.path / "evil"), "args": []}, {**entry, "args": ["-C", "/", "mcp"]}, entry):
        (own.path / ".mcp.json").write_text(json.dumps({"mcpServers": {"gitmem": hostile}}))
        cli("init", "--no-hooks", cwd=own.path)
        cli("install", "claude", cwd=own.path)
        check = check_clients(own.path)
        assert ("not started" in check.message) == (hostile != entry)
    assert not (own.path / "EVIL").exists()
