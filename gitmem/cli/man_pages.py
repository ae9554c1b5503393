"""Generate the manual pages from the definitions of the commands: `python -m gitmem.cli.man_pages DIR`.

`gitmem.1` is about all commands, `gitmem-COMMAND.1` about one and its subcommands. A test compares `docs/man/` with
them, and the wheel installs them.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from gitmem import __version__
from gitmem.cli.command_help import CommandHelp, make_context, read_help
from gitmem.cli.exit_codes import EXIT_CODES
from gitmem.cli.root import COMMANDS, root
from gitmem.settings import SETTINGS, Setting

_SUMMARY: Final = "search git repositories by meaning and by symbol, offline"

_ENVIRONMENT: Final = {
    "GIT_PAGER, PAGER": "Pager of long output on a terminal, after git's setting core.pager. The default is less.",
    "NO_COLOR": "If set, print no colours, unless --color says otherwise.",
    "CLICOLOR_FORCE, FORCE_COLOR": "If set to anything but 0, print colours even without a terminal. NO_COLOR wins.",
    "GITMEM_DEBUG": "If set, print the traceback of an error.",
    "GITMEM_NO_REGISTRY": "If set, do not list repositories in the registry of this user.",
    "GITMEM_RUNTIME_DIR": "The private folder of the servers' sockets, instead of the session's.",
}
"""Environment variables besides those of the settings."""


def render_pages() -> dict[str, str]:
    """Return all pages by file name."""
    return {f"{page_name(name)}.1": render_page(name) for name in ("", *COMMANDS)}


def page_name(command: str) -> str:
    """Return the name of a command's page, or of the page about gitmem for ""."""
    return f"gitmem-{command}" if command else "gitmem"


def render_page(name: str) -> str:
    """Return the page of a command, or the one about gitmem for "", as roff."""
    context = make_context(root)
    if not name:
        return _join(_title(""), _overview(read_help(root, context)))
    command = root.get_command(context, name)
    assert command is not None, "the names are those of commands"
    inner = click.Context(command, info_name=name, parent=context)
    return _join(_title(name), _command_page(name, command, inner))


def _join(*parts: Iterator[str]) -> str:
    return "".join(f"{line}\n" for part in parts for line in part)


def _title(name: str) -> Iterator[str]:
    page = page_name(name)
    summary = COMMANDS[name].rstrip(".") if name else _SUMMARY
    yield f'.TH "{page.upper()}" "1" "" "gitmem {__version__}" "gitmem manual"'
    yield from (".SH NAME", f"{_escape(page)} \\- {_escape(summary[:1].lower() + summary[1:])}")


def _overview(text: CommandHelp) -> Iterator[str]:
    yield from _synopsis(text)
    yield from (".SH DESCRIPTION", *_paragraphs(text.description))
    yield from _definitions("OPTIONS", text.options)
    yield from _definitions("COMMANDS", [(page_name(name) + "(1)", about) for name, about in COMMANDS.items()])
    yield from _definitions("CONFIGURATION", [(setting.key, _describe(setting)) for setting in SETTINGS])
    yield from _definitions("ENVIRONMENT", [*_ENVIRONMENT.items(), *_setting_variables()])
    yield from _definitions("EXIT STATUS", [(f"{code:d}", meaning) for code, meaning in EXIT_CODES.items()])


def _setting_variables() -> list[tuple[str, str]]:
    return [(setting.variable, f"Overrides the setting {setting.key}.") for setting in SETTINGS]


def _describe(setting: Setting) -> str:
    return f"{setting.meaning} Values: {setting.values}. Default: {setting.default_text or 'none'}."


def _command_page(name: str, command: click.Command, context: click.Context) -> Iterator[str]:
    text = read_help(command, context)
    subcommands = command.commands if isinstance(command, click.Group) else {}
    yield from _synopsis(text)
    yield from (".SH DESCRIPTION", *_paragraphs(text.description))
    yield from _definitions("OPTIONS", text.options)
    yield from [".SH COMMANDS"] if subcommands else []
    for subname, subcommand in subcommands.items():
        inner = click.Context(subcommand, info_name=subname, parent=context)
        yield from _subcommand(read_help(subcommand, inner), subname)
    yield from (".SH EXAMPLES", *_code(text.examples))
    yield from (".SH SEE ALSO", _escape("gitmem(1)" + (", gitmem-query(1)" if name != "query" else ", git-grep(1)")))


def _subcommand(text: CommandHelp, name: str) -> Iterator[str]:
    yield from (f".SS {_escape(name)}", ".PP", _escape(text.usage), *_paragraphs(text.description))
    yield from _terms(text.options)
    yield from _code(text.examples)


def _synopsis(text: CommandHelp) -> Iterator[str]:
    yield from (".SH SYNOPSIS", _escape(text.usage))


def _definitions(heading: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if rows:
        yield f".SH {heading}"
        yield from _terms(rows)


def _terms(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in rows:
        yield from (".TP", f"\\fB{_escape(term)}\\fR", _escape(meaning))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield from (".PP", *map(_escape, paragraph.splitlines()))


def _code(lines: Sequence[str]) -> Iterator[str]:
    yield from (".PP", ".nf", ".RS 4", *map(_escape, lines), ".RE", ".fi")


def _escape(text: str) -> str:
    """Escape text for roff. Code in backticks becomes bold, and a hyphen stays one, so that options can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    escaped = escaped.replace("'", "\\(aq").replace('"', "\\(dq")
    bold = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", escaped)
    return f"\\&{bold}" if bold.startswith(".") else bold


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for old in folder.glob("gitmem*.1"):
        old.unlink()
    for file_name, page in render_pages().items():
        (folder / file_name).write_text(page, encoding="utf-8")
