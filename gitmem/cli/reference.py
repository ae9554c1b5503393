"""The command line reference and the table of settings as Markdown: `python -m gitmem.cli.reference [README.md]`.

The README holds this text between two marks, and a test compares it. With a file, what stands between its marks is
replaced; without one, the text is printed.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from gitmem.cli.root import ALIASES, COMMANDS, root
from gitmem.settings import PREFIX, SETTINGS, Setting

BEGIN: Final = "<!-- reference:begin -->"
END: Final = "<!-- reference:end -->"


def render() -> str:
    """All commands, then all settings."""
    context = click.Context(root, info_name="gitmem")
    parts = [_section(context, name, command, 4) for name, command in _commands(context)]
    return "\n".join(["### Commands", "", _overview(), *parts, "### Settings", "", _settings()])


def between_marks(text: str) -> str | None:
    """What stands between the marks, None where there are none."""
    _, begin, rest = text.partition(BEGIN)
    inside, end, _ = rest.partition(END)
    return inside.strip("\n") + "\n" if begin and end else None


def _overview() -> str:
    rows = [f"| `gitmem {name}` | {summary} |" for name, summary in COMMANDS.items()]
    return "\n".join(["| command | |", "|---|---|", *rows, ""])


def _commands(context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        yield name, command


def _section(context: click.Context, name: str, command: click.Command, level: int) -> str:
    """A command, and those of a group below it."""
    inner = click.Context(command, info_name=name, parent=context)
    usage = " ".join([inner.command_path, *command.collect_usage_pieces(inner)])
    about, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
    also = [f"Also called `gitmem {alias}`.\n" for alias, meant in ALIASES.items() if meant == name]
    shown = "\n".join(line.removeprefix("  ") for line in examples.splitlines()[1:])
    head = f"{'#' * level} `{usage}`"
    parts = [head, "", about.strip(), "", *also, *_options(command, inner), "```sh", shown, "```", ""]
    below = command.commands if isinstance(command, click.Group) else {}
    return "\n".join([*parts, *(_section(inner, name, part, level + 1) for name, part in below.items())])


def _options(command: click.Command, context: click.Context) -> list[str]:
    records = [
        record
        for param in command.get_params(context)
        if isinstance(param, click.Option) and "--help" not in param.opts and (record := param.get_help_record(context))
    ]
    rows = [f"| `{names}` | {meaning} |" for names, meaning in ((_cell(a), _cell(b)) for a, b in records)]
    return ["| option | |", "|---|---|", *rows, ""] if rows else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _settings() -> str:
    rows = [_row(setting) for setting in SETTINGS]
    head = ["| git config | environment | default | range | meaning |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _row(setting: Setting) -> str:
    cells = (f"`{PREFIX}{setting.name}`", f"`{setting.variable}`", setting.default, _range(setting), setting.meaning)
    return "| " + " | ".join(map(str, cells)) + " |"


def _range(setting: Setting) -> str:
    return ", ".join(setting.choices) if setting.choices else f"{setting.least} to {setting.most}"


def fill(text: str) -> str:
    """A text with the reference between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{render().strip()}\n\n{END}{after}"


if __name__ == "__main__":
    if sys.argv[1:]:
        target = Path(sys.argv[1])
        target.write_text(fill(target.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(render(), end="")
