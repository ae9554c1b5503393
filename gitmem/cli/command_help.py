"""Parts of a command's help as the reference and the manual pages show them."""

import inspect

import click

from gitmem.named_tuple import NamedTuple


class CommandHelp(NamedTuple):
    """Usage, description, options (names and meaning) and lines of examples of a command."""

    usage: str
    description: str
    options: list[tuple[str, str]]
    examples: list[str]


def make_context(group: click.Group) -> click.Context:
    """Return the context of gitmem itself, without running anything."""
    # click keeps the first help option that a command makes. A context without the settings would make one without -h.
    return click.Context(group, info_name="gitmem", **group.context_settings)


def read_help(command: click.Command, context: click.Context) -> CommandHelp:
    """Return the parts of a command's help. `context` is the command's own."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    description, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
    # The first line of the block is the word "Examples:".
    lines = [line.removeprefix("  ") for line in examples.splitlines()[1:]]
    return CommandHelp(usage, description.strip(), _options(command, context), lines)


def _options(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    return [
        record
        for param in command.get_params(context)
        if isinstance(param, click.Option) and "--help" not in param.opts and (record := param.get_help_record(context))
    ]
