"""A request of `client`, parsed, and its comparison with the process that is asked.

A server may answer only if it would print the same bytes as the client. Whatever could make a difference is compared
here: code, Python, mounts, and the environment of git and gitmem. Colours and widths depend on the client alone and are
part of the request.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from gitmem.git.program import PASSED_VARIABLES, run_git
from gitmem.named_tuple import NamedTuple
from gitmem.resident.client import describe_process
from gitmem.resident.wire import unpack
from gitmem.settings import SETTINGS

_ALIASES: Final = frozenset(alias.variable for setting in SETTINGS for alias in setting.aliases)
_COMPARED: Final = _ALIASES | {*PASSED_VARIABLES, "HOME", "XDG_CONFIG_HOME", "TZ"}
_COMPARED_PREFIXES: Final = ("GITMEM_", "GIT_CONFIG_", "LD_", "DYLD_")
"""Settings of gitmem and git, and those of the system's loader, which every child process obeys."""

_OWN: Final = frozenset({"GITMEM_GIT_TOKEN", "GITMEM_MCP_TOKEN"})
"""Variables on which no answer depends: secrets for clones and for the server's clients."""


class Stream(NamedTuple):
    """Output stream of a client."""

    terminal: bool
    line_buffering: bool
    write_through: bool
    encoding: str


class Request(NamedTuple):
    """Command line with all on which its output depends. `columns` is the width of the terminal, None without one."""

    args: list[str]
    folder: str
    root: Path
    environment: dict[str, str]
    stdout: Stream
    stderr: Stream
    columns: int | None
    has_stdin: bool
    process: bytes


def parse_request(data: bytes) -> Request:
    """Parse the data of a message. Raises ValueError."""
    args, folder, root, environment, stdout, stderr, columns, stdin, process = unpack(data)
    variables = (os.fsdecode(item).partition("=") for item in unpack(environment))
    return Request(
        args=[os.fsdecode(arg) for arg in unpack(args)],
        folder=os.fsdecode(folder),
        root=Path(os.fsdecode(root)),
        environment={name: value for name, _, value in variables},
        stdout=_parse_stream(stdout),
        stderr=_parse_stream(stderr),
        columns=int(columns) if columns else None,
        has_stdin=bool(stdin),
        process=process,
    )


def _parse_stream(data: bytes) -> Stream:
    terminal, line_buffering, write_through, encoding = data.decode("ascii").split(" ")
    return Stream(terminal == "1", line_buffering == "1", write_through == "1", encoding)


def find_difference(request: Request, environment: Mapping[str, str]) -> str:
    """Return in which respect this process would answer a request differently, "" if in none."""
    if request.process != describe_process():
        return "another installation, Python or file system"
    theirs, ours = dict(_compared(request.environment)), dict(_compared(environment))
    for name in sorted({*theirs, *ours}):
        if theirs.get(name) != ours.get(name):
            return f"another value of {name}"
    programs = ["git"]
    if request.environment.get("PATH") != environment.get("PATH"):
        programs += _filter_programs(request.root)
    paths = [variables.get("PATH", os.defpath) for variables in (request.environment, environment)]
    differing = [name for name in programs if len({shutil.which(name, path=path) for path in paths}) > 1]
    return f"another program {differing[0]} on PATH" if differing else ""


def _compared(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in environment.items():
        if (name in _COMPARED or name.startswith(_COMPARED_PREFIXES)) and name not in _OWN:
            yield name, value


def _filter_programs(root: Path) -> Sequence[str]:
    """Return the programs through which git passes files before it hashes them, for example that of Git LFS."""
    pattern = r"^filter\..*\.(clean|process)$"
    listed = run_git(["config", "--null", "--get-regexp", pattern], cwd=root, check=False)
    commands = [entry.partition("\n")[2] for entry in os.fsdecode(listed.stdout).split("\0")]
    return list(dict.fromkeys(command.split()[0] for command in commands if command.strip()))
