"""Let a running gitmem answer a command that only reads, and print its answer. Imports next to nothing.

The command line is not parsed here: that needs click and the modules of the command. Whether a server may answer is
decided by the names of the command and the global options in front of them.
"""

import os

from gitmem.cli.leading_options import COMPLETION, split_command_line
from gitmem.resident.client import Answer, Client
from gitmem.resident.wire import ERR, OUT, PAGER

_ALL = ""

SERVED = {
    "query": (_ALL,),
    "search": (_ALL,),
    "related": (_ALL,),
    "get": (_ALL,),
    "usages": (_ALL,),
    "map": (_ALL,),
    "impact": (_ALL,),
    "when": (_ALL,),
    "changes": (_ALL,),
    "memory": ("search", "list", "show", "log", "diff"),
    "doc": ("search", "get", "list"),
    "conversation": ("get", "list"),
}
"""Commands that a server may answer, and for a group of commands which of them. All of them only read records."""

_PUBLISHED = ("org:", "--repo=org:")
"""Beginnings of arguments that name repositories of an organisation. The rights there belong to whoever asks, and the
password may be in the environment of the command."""

_DEBUG = "GITMEM_DEBUG"

_NO_SERVER = "--no-server"
"""The global flag that commands take, too. As the value of an option it costs a slower answer."""


def ask_server(args: list[str]) -> int | None:
    """Print the answer of a server and return the exit code; None if this process must answer.

    Raises: OSError if the answer cannot be printed.
    """
    folder = served_folder(args)
    if folder is None or COMPLETION in os.environ or _DEBUG in os.environ:
        return None
    client = Client()
    answer = client.ask(args, folder)
    if answer is not None:
        return print_answer(answer)
    if client.taken is not None:
        _put_back(client.taken)
    return None


def only_reads(args: list[str]) -> bool:
    """Return whether the command, or some of its group, may be answered by a server: it changes no file."""
    line = split_command_line(args)
    return line is not None and line.command in SERVED


def served_folder(args: list[str]) -> str | None:
    """Return the folder of `-C`, "" without it, or None if a server may not answer this command line."""
    if any(arg.startswith(_PUBLISHED) for arg in args):
        return None
    line = split_command_line(args)
    if line is None or "no_server" in line.flags or _NO_SERVER in line.args:
        return None
    names = SERVED.get(line.command, ())
    is_served = names == (_ALL,) or (bool(line.args) and line.args[0] in names)
    # The help of a command is as wide as the terminal, and click asks the system for its width.
    return line.folder if is_served and not {"-h", "--help"}.intersection(args) else None


def print_answer(answer: Answer) -> int:
    """Write the parts of an answer in their order and return the exit code. Raises OSError."""
    pager = None
    try:
        for kind, data in answer[:-1]:
            if kind == PAGER:
                from gitmem.cli.pager import start  # only for terminals

                pager = start(os.fsdecode(data))
            elif kind == OUT:
                _write(1, data)
            elif kind == ERR:
                _write_error(data)
    except BrokenPipeError:
        return 0  # the reader, `head` for example, closed the pipe because it has enough
    finally:
        if pager is not None:
            pager.close()
    return answer[-1][1][0]


def _write(number: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]


def _write_error(data: bytes) -> None:
    """Write to standard error. Ignore a failure, which could be reported nowhere else."""
    try:
        _write(2, data)
    except OSError:
        return


def _put_back(data: bytes) -> None:
    """Make standard input yield bytes that were read for a server that then failed to answer."""
    import io
    import sys

    sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding=sys.stdin.encoding)
