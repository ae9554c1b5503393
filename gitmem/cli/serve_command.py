"""Run a command for a client of this process, and send it the output that the client's own process would print.

Answers and errors about the request itself are sent. Any other failure might be one of this process alone, so the
command is left to the client.
"""

import io
import shutil
from typing import BinaryIO, cast

import click

from gitmem.cli.ask_server import served_folder
from gitmem.cli.console import Console, use_console
from gitmem.cli.error_output import report
from gitmem.cli.pager import needs_shell
from gitmem.cli.root import invoke
from gitmem.errors import NoIndex, UsageError
from gitmem.resident.call import CallCancelled
from gitmem.resident.exchange import Exchange
from gitmem.resident.open_answers import OpenAnswers, Refused
from gitmem.resident.repositories import OpenRepositories
from gitmem.resident.request import Request, Stream
from gitmem.resident.wire import ERR, OUT, PAGER


def run_command(request: Request, repositories: OpenRepositories, exchange: Exchange) -> None:
    """Run the command of a request and send its output. Raises CallCancelled, and GitmemError if the client must."""
    if served_folder(request.args) is None:
        raise Refused
    answers = OpenAnswers(repositories.get(request.root), repositories, exchange.call)
    workspace = answers.workspace()
    # Only git knows all ways in which a working tree can be somewhere else, for example `core.worktree`.
    if workspace.location.worktree is None or not workspace.location.worktree.samefile(request.root):
        raise Refused
    if workspace.settings.use_server != "true":
        raise Refused
    output = _Output(request, exchange)
    console = Console(
        stdout=output.stdout,
        stderr=output.stderr,
        environment=request.environment,
        folder=request.folder,
        columns=output.columns,
        start_pager=output.start_pager,
        read_stdin=exchange.read_input if request.has_stdin else None,
        answers=answers,
    )
    with use_console(console):
        code = _invoke(request)
        output.stdout.flush()
        output.stderr.flush()
    exchange.finish(code)


def _invoke(request: Request) -> int:
    """Return the exit code of the command. Errors that only the request can cause are printed, all others raised."""
    try:
        return invoke(request.args)
    except (UsageError, NoIndex, click.ClickException) as problem:
        return report(problem, request.environment)
    except KeyboardInterrupt as interrupt:
        raise CallCancelled from interrupt


class _Output:
    """Output streams of a client. They are buffered like its own, so that the parts are written in the same order."""

    def __init__(self, request: Request, exchange: Exchange) -> None:
        self._request = request
        self._exchange = exchange
        self._raw = {
            kind: _Part(exchange, kind, stream) for kind, stream in ((OUT, request.stdout), (ERR, request.stderr))
        }
        self._is_paged = False
        self.stdout = self._open(OUT, request.stdout)
        self.stderr = self._open(ERR, request.stderr)

    def _open(self, kind: bytes, stream: Stream) -> io.TextIOWrapper:
        part = self._raw[kind]
        # Like Python itself, which leaves out the buffer of unbuffered streams (`python -u`).
        return io.TextIOWrapper(
            cast(BinaryIO, part) if stream.write_through else io.BufferedWriter(part),
            encoding=stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )

    def columns(self) -> int | None:
        """Return the width of the terminal; None behind a pager, which hides the terminal."""
        return None if self._is_paged else self._request.columns

    def start_pager(self, command: str) -> None:
        """Have the client start a pager. Raises Refused if it probably cannot."""
        if not needs_shell(command) and shutil.which(command, path=self._request.environment.get("PATH")) is None:
            raise Refused
        self.stdout.flush()
        self.stderr.flush()
        self._exchange.write(PAGER, command.encode("utf-8", "surrogateescape"))
        for part in self._raw.values():
            part.terminal = False
        self._is_paged = True


class _Part(io.RawIOBase):
    """Receiver of one output stream."""

    def __init__(self, exchange: Exchange, kind: bytes, stream: Stream) -> None:
        super().__init__()
        self._exchange = exchange
        self._kind = kind
        self.terminal = stream.terminal

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self.terminal

    def write(self, data: object) -> int:
        content = bytes(memoryview(data))  # type: ignore[arg-type]
        self._exchange.write(self._kind, content)
        return len(content)
