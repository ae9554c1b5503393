"""Completion in real shells, and the values that complete each argument."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitmem.cli.completion_scripts import SCRIPTS
from gitmem.cli.root import COMMANDS
from gitmem.errors import ExitCode
from gitmem.records.transfer import import_records
from gitmem.workspace import open_workspace
from tests.gitrepo import ISOLATION, Repo
from tests.sample import Cli

NOTE = "mem_0123456789ab"


class Shell:
    """Interactive shell on a terminal, into which a user types."""

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._controller, terminal = pty.openpty()
        self._process = subprocess.Popen(
            command, cwd=folder, env={**environment, "TERM": "vt100"}, start_new_session=True,
            stdin=terminal, stdout=terminal, stderr=terminal,
        )  # fmt: skip
        os.close(terminal)
        self._output = b""
        self._read_until(rb"READY> ")

    def complete(self, line: str) -> str:
        """Type a line and a tab; return the line as the shell completed it."""
        # The completed line becomes an argument of printf: ctrl-A and ctrl-E move to its ends.
        self._output = b""
        os.write(self._controller, f"{line}\t\x01printf 'RE%s:END\\n' \"SULT:\x05\"\n".encode())
        completed = self._read_until(rb"RESULT:(.*?):END")[1].decode()
        self._read_until(rb":END.*READY> ")
        return completed

    def _read_until(self, pattern: bytes) -> "re.Match[bytes]":
        while not (match := re.search(pattern, self._output, re.DOTALL)):
            data = os.read(self._controller, 65536)
            assert data, self._output
            self._output += data
        return match

    def close(self) -> None:
        """End the shell."""
        self._process.kill()
        self._process.wait()
        os.close(self._controller)


@pytest.fixture(scope="module")
def place(_indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a home with gitmem on PATH and the sample repository in it, with a note, a conversation and a branch."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(_indexed, home / "repo", symlinks=True)
    repo = Repo(home / "repo")
    repo.git("branch", "feature/login")
    repo.write({"my file.md": "text\n", "unique.jsonl": "", "unfolder/inner.md": "text\n"})
    turn = {"kind": "conversations", "conversation": "planning", "turn": 0, "role": "user", "content": "hello"}
    lines = [{"id": NOTE, "content": "Sessions live in cookies."}, turn]
    import_records(open_workspace(repo.path, {}), map(json.dumps, lines), partial=False)
    program = home / "bin" / "gitmem"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    program.chmod(0o755)
    return home


@pytest.fixture(scope="module")
def variables(place: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT", "ZDOTDIR", "XDG_"))}
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**kept, **ISOLATION, "HOME": str(place), "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}


EXPECTED = {
    "gitmem qu": "gitmem query ",
    "gitmem memory del": "gitmem memory delete ",
    "gitmem doc add un": None,
    "gitmem doc add unf": "gitmem doc add unfolder/",
    "gitmem doc add unique": "gitmem doc add unique.jsonl ",
    "gitmem doc add my": "gitmem doc add my\\ file.md ",
    "gitmem related src/ro": "gitmem related src/routing.ts ",
    "gitmem query --path src/ro": "gitmem query --path src/routing.ts ",
    "gitmem query --path doc": "gitmem query --path docs/",
    "gitmem query cookie -- uniq": "gitmem query cookie -- unique.jsonl ",
    "gitmem query --rev fea": "gitmem query --rev feature/login ",
    "gitmem query --rev=v": "gitmem query --rev=v1 ",
    "gitmem query --lang pyth": "gitmem query --lang python ",
    "gitmem memory show mem_01": f"gitmem memory show {NOTE} ",
    "gitmem memory show conversation:pl": "gitmem memory show conversation:planning ",
    "gitmem conversation get pl": "gitmem conversation get planning ",
}  # fmt: skip
"""Lines and how a tab completes them; None if there are several ways."""


def check_lines(shell: Shell, removed: str = "") -> None:
    """Complete all lines and compare them with the expected ones, without the characters `removed` at their ends."""
    try:
        results = {line: shell.complete(line) for line in EXPECTED}
        results = {line: completed.rstrip(removed) if removed else completed for line, completed in results.items()}
    finally:
        shell.close()
    expected = {line: completed or line for line, completed in EXPECTED.items()}
    assert results == {
        line: completed.rstrip(removed) if removed else completed for line, completed in expected.items()
    }


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes(place: Path, variables: dict[str, str]) -> None:
    rc = place / "bashrc"
    rc.write_text("bind 'set enable-bracketed-paste off'\neval \"$(gitmem completion bash)\"\nPS1='READY> '\n")
    check_lines(Shell(["bash", "--noprofile", "--rcfile", str(rc), "-i"], place / "repo", variables))


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
@pytest.mark.parametrize("compinit", ["", "before", "after"])
def test_zsh_completes_with_and_without_compinit(place: Path, variables: dict[str, str], compinit: str) -> None:
    set_up = "autoload -Uz compinit && compinit -u\n"
    lines = [set_up if compinit == "before" else "", 'eval "$(gitmem completion zsh)"\n']
    lines += [
        set_up if compinit == "after" else "",
        "unset zle_bracketed_paste\nunsetopt prompt_sp list_ambiguous\nbindkey -e\nPS1='READY> '\n",
    ]
    folder = place / f"zsh-{compinit or 'without'}"
    folder.mkdir()
    (folder / ".zshrc").write_text("".join(lines))
    shell = Shell(["zsh", "-d", "-i"], place / "repo", {**variables, "ZDOTDIR": str(folder)})
    if not compinit:
        check_lines(shell, " /")  # zsh removes the end of a completion again when the cursor moves
        return
    try:
        assert shell.complete("gitmem query --rev fea").rstrip() == "gitmem query --rev feature/login"
    finally:
        shell.close()


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
def test_fish_completes(place: Path, variables: dict[str, str]) -> None:
    lines = [line for line, completed in EXPECTED.items() if completed]
    script = place / "gitmem.fish"
    script.write_text(SCRIPTS["fish"] + "for line in $argv\n    complete -C $line\n    echo END\nend\n")
    process = subprocess.run(
        ["fish", "--no-config", str(script), *lines], cwd=place / "repo", env=variables, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    groups = [group.strip().split("\n") for group in process.stdout.split("END\n")[:-1]]
    assert process.stderr == ""
    for line, offered in zip(lines, groups, strict=True):
        values = [row.split("\t")[0] for row in offered]
        expected = (EXPECTED[line] or "").rpartition(" ")[2] or (EXPECTED[line] or "").removesuffix(" ").split(" ", 3)[
            -1
        ]
        expected = {"gitmem doc add my": "my file.md"}.get(line, expected.split(" ")[-1])
        assert values == [expected], line


def offered(cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch, *words: str) -> dict[str, str]:
    """Return the values offered for the last word, with their kinds."""
    monkeypatch.setenv("_GITMEM_COMPLETE", "zsh")
    monkeypatch.setenv("_GITMEM_WORDS", "\n".join(["gitmem", *words]))
    outcome = cli(cwd=repo.path)
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    rows = [line.split("\t") for line in outcome.out.splitlines()]
    return {value: kind for kind, value, _ in rows}


def test_all_commands_are_offered(cli: Cli, indexed: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(offered(cli, indexed, monkeypatch, "")) == list(COMMANDS)
    assert list(offered(cli, indexed, monkeypatch, "help", "")) == list(COMMANDS)
    assert "delete" in offered(cli, indexed, monkeypatch, "help", "memory", "")
    assert "--no-pager" in offered(cli, indexed, monkeypatch, "--")


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["query", "--type", "cl"], {"class": "plain"}),
        (["query", "--record-type", "dec"], {"decision": "plain"}),
        (["query", "--changed", "v"], {"v1..": "part"}),
        (["query", "--changed", "v1...ma"], {"v1...main": "plain"}),
        (["query", "--path", "!sr"], {"!src/": "part"}),
        (["query", "free"], {}),
        (["query", "x", "--", "an"], {"": "file"}),
        (["-C", "sr"], {"": "folder"}),
        (["related", ""], {"": "file"}),
        (["doc", "search", "--sensitivity", "n"], {"normal": "plain"}),
        (["query", "--kind", "no"], {"notes": "plain"}),
        (["memory", "import", "x"], {"": "file"}),
        (["conversation", "import", ""], {"": "file"}),
        (["query", "--mode", "lex"], {"lexical": "plain"}),
        (["memory", "show", "mem_"], {}),
        (["nosuch", "x"], {}),
    ],
)
def test_values_of_arguments(
    cli: Cli, indexed: Repo, monkeypatch: pytest.MonkeyPatch, words: list[str], values: dict[str, str]
) -> None:
    assert offered(cli, indexed, monkeypatch, *words) == values


def test_paths_are_relative_to_the_root(cli: Cli, indexed: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_GITMEM_COMPLETE", "zsh")
    monkeypatch.setenv("_GITMEM_WORDS", "gitmem\nquery\n--path\nsrc/ro")
    assert cli(cwd=indexed.path / "src").out == "plain\tsrc/routing.ts\t\n"


def test_repositories_are_offered(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    assert cli("repos", "add", "--name", "mine", cwd=own.path).code == 0
    assert offered(cli, own, monkeypatch, "repos", "remove", "m") == {"mine": "plain"}


def test_a_secret_in_a_note_is_not_offered(cli: Cli, own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "kT4bQ9zXw2LmN7cVr1" + "HsJ6dYf3GpA8eUo5Zi"
    assert cli("memory", "add", "--allow-secrets", f"token {secret}", cwd=own.path).code == 0
    monkeypatch.setenv("_GITMEM_COMPLETE", "zsh")
    monkeypatch.setenv("_GITMEM_WORDS", "gitmem\nmemory\nshow\nmem_")
    output = cli(cwd=own.path).out
    assert output.startswith("plain\tmem_")
    assert secret not in output


def test_outside_of_a_repository_nothing_is_printed(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_GITMEM_COMPLETE", "bash")
    monkeypatch.setenv("_GITMEM_LINE", "gitmem query --rev ")
    outcome = cli(cwd=tmp_path)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('gitmem query "two words" --rev v', "v1"),
        ("gitmem query 'open quote --rev", None),
        ('gitmem query --lang "pyth', "python"),
        ("gitmem query --rev=v", "v1"),
        ("gitmem query it\\'s --rev v", "v1"),
    ],
)
def test_bash_lines_are_split_as_by_the_shell(
    cli: Cli, indexed: Repo, monkeypatch: pytest.MonkeyPatch, line: str, value: str | None
) -> None:
    monkeypatch.setenv("_GITMEM_COMPLETE", "bash")
    monkeypatch.setenv("_GITMEM_LINE", line)
    monkeypatch.setenv("_GITMEM_BREAKS", " \t\n\"'><=;|&(:")
    rows = [row.split("\t")[1] for row in cli(cwd=indexed.path).out.splitlines()]
    assert rows == ([value] if value else [])
