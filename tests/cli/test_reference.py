"""Every command has a description and examples, and `docs/reference.md` repeats them word for word."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gitmem import __version__
from gitmem.cli import reference
from gitmem.cli.command_help import make_context
from gitmem.cli.exit_codes import EXIT_CODES
from gitmem.cli.root import COMMANDS, root
from gitmem.errors import ExitCode
from gitmem.settings import SETTINGS
from tests.sample import Cli

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"


def find(name: str) -> click.Command:
    command = root.get_command(make_context(root), name)
    assert command is not None
    return command


def shown_options(name: str) -> list[click.Option]:
    """Return the options of a command, without the global flags, which its help does not repeat."""
    return [param for param in find(name).params if isinstance(param, click.Option) and not param.hidden]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_description_and_examples(name: str) -> None:
    about, _, examples = (find(name).help or "").partition("Examples:")
    assert about.splitlines()[0] == COMMANDS[name]
    assert f"gitmem {name}" in examples


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name: str) -> None:
    for option in shown_options(name):
        assert option.help, option.name
        assert option.help.endswith((".", "]", ")")), option.help


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_fits_a_terminal(cli: Cli, name: str) -> None:
    outcome = cli(name, "--help")
    assert outcome.code == 0
    assert outcome == cli(name, "-h")
    assert all(len(line) <= 100 for line in outcome.out.splitlines())


def test_help_lists_every_command(cli: Cli) -> None:
    outcome = cli("--help")
    assert outcome.code == 0
    assert all(f"  {name}" in outcome.out for name in COMMANDS)
    assert cli().out == outcome.out


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"gitmem {__version__}\n"


def test_the_reference_lists_every_command_option_and_setting() -> None:
    text = reference.render()
    for name in COMMANDS:
        assert f"### gitmem {name}\n\n`gitmem {name} " in text
        for option in shown_options(name):
            assert option.opts[-1] in text
    for setting in SETTINGS:
        assert f"| `gitmem.{setting.name}` | `{setting.variable}` |" in text


def test_the_reference_explains_every_exit_code() -> None:
    assert set(EXIT_CODES) == set(ExitCode)


def test_the_reference_is_printed_by_its_module() -> None:
    process = subprocess.run([sys.executable, "-m", "gitmem.cli.reference"], capture_output=True, text=True, check=True)
    assert process.stdout == reference.render()


def test_the_reference_is_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "reference.md"
    subprocess.run([sys.executable, "-m", "gitmem.cli.reference", str(target)], check=True)
    assert target.read_text(encoding="utf-8") == reference.render()


def test_the_page_of_the_reference_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference.render(), (
        "run `python -m gitmem.cli.reference docs/reference.md`"
    )


def test_the_overview_links_to_every_section() -> None:
    text = reference.render()
    headings = {line.lstrip("# ").replace(" ", "-") for line in text.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\(#([a-z-]+)\)", text)) <= headings


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_calls_gitmem(cli: Cli, shell: str) -> None:
    outcome = cli("completion", shell)
    assert outcome.code == 0
    assert "_GITMEM_COMPLETE" in outcome.out


def test_completion_of_an_unknown_shell_is_rejected(cli: Cli) -> None:
    assert cli("completion", "tcsh").code == ExitCode.USAGE
