"""The global options in front of a command, for the code that runs before click is loaded. Imports next to nothing."""

from gitmem.named_tuple import NamedTuple

COMPLETION = "_GITMEM_COMPLETE"
"""Environment variable in which a shell asks for completions instead of running the command."""

_FLAGS = {"-q": "quiet", "--quiet": "quiet", "--no-pager": "no_pager", "--no-server": "no_server"}


class CommandLine(NamedTuple):
    """Parts of a command line. `folder` is that of `-C`, "" without it. The flags are parameters of the root."""

    command: str
    args: tuple[str, ...]
    folder: str
    flags: frozenset[str]


def split_command_line(args: list[str]) -> CommandLine | None:
    """Return the parts of a command line; None without a command, or with a global option that only click parses."""
    folder, rest = "", iter(args)
    flags: set[str] = set()
    for arg in rest:
        if arg == "-C":
            folder = next(rest, "")
        elif arg.startswith("-C"):
            folder = arg[2:]
        elif arg in _FLAGS:
            flags.add(_FLAGS[arg])
        elif arg.startswith("-"):
            return None
        else:
            return CommandLine(arg, tuple(rest), folder, frozenset(flags))
    return None
