"""`docs/man/` holds the manual pages that the definitions of the commands give, and `gitmem help` shows them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.cli.man_pages import page_name, render_page, render_pages
from gitmem.cli.root import COMMANDS
from gitmem.errors import ExitCode
from tests.sample import Cli, assert_error

FOLDER = Path(__file__).parents[2] / "docs" / "man"


def test_the_manual_pages_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "gitmem.cli.man_pages", str(tmp_path / "man")], check=True)
    written = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "man").iterdir()}
    stored = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}
    assert stored == written == render_pages(), "run `python -m gitmem.cli.man_pages docs/man`"


def test_every_command_and_subcommand_has_a_page(cli: Cli) -> None:
    assert set(render_pages()) == {"gitmem.1", *(f"gitmem-{name}.1" for name in COMMANDS)}
    assert ".SS delete\n" in render_page("memory")
    assert "\\fB\\-\\-allow\\-secrets\\fR" in render_page("memory")


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_a_page_is_valid_roff(name: str) -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", "-z"]
    process = subprocess.run(command, input=render_page(name), capture_output=True, text=True, check=True)
    assert process.stderr == ""


@pytest.mark.skipif(not shutil.which("man"), reason="needs man")
@pytest.mark.parametrize("names", [(), ("memory",), ("memory", "delete"), ("search",)])
def test_help_shows_a_manual_page(names: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "gitmem", "help", "--man", *names]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if "minimized" in process.stdout:
        pytest.skip("this system has a `man` that shows no page")
    assert process.returncode == 0, process.stderr
    page = page_name({"search": "query"}.get(names[0], names[0]) if names else "")
    assert f"{page.upper()}(1)" in process.stdout


def test_help_without_man(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert_error(
        cli("help", "--man", "query"),
        ExitCode.USAGE,
        "`man` cannot be run",
        "hint: install it, or run: gitmem help query",
    )


@pytest.mark.parametrize(
    ("names", "same"),
    [
        ((), ("--help",)),
        (("query",), ("query", "--help")),
        (("search",), ("query", "--help")),
        (("memory",), ("memory", "--help")),
        (("memory", "delete"), ("memory", "delete", "--help")),
    ],
)
def test_help_prints_the_help_of_a_command(cli: Cli, names: tuple[str, ...], same: tuple[str, ...]) -> None:
    outcome = cli("help", *names)
    assert outcome.code == 0
    assert outcome.out == cli(*same).out


def test_help_is_the_same_in_a_process_of_its_own() -> None:
    # click keeps the help option that it makes first, so one process shows no difference between contexts.
    shown, help_ = (
        subprocess.run([sys.executable, "-m", "gitmem", *args], capture_output=True, text=True, check=True).stdout
        for args in (["help", "memory", "delete"], ["memory", "delete", "--help"])
    )
    assert shown == help_
    assert "-h, --help" in help_


def test_help_of_an_unknown_command(cli: Cli) -> None:
    assert_error(cli("help", "qeury"), ExitCode.USAGE, "no such command: `qeury`, did you mean `query`?")
    assert_error(cli("help", "memory", "rm"), ExitCode.USAGE, "`memory rm`, did you mean `memory delete`?")
    assert_error(cli("help", "query", "x"), ExitCode.USAGE, "`gitmem query` has no subcommands")
