"""Blobs through `git cat-file`, kept running between questions.

A process that dies costs the object it died on, never the ones after it: every answer is read to its end or the
process is dropped. Requests go out in windows that fit into a pipe, so that neither side can block the other.
"""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import TracebackType
from typing import IO, Final, Self

from gitmem.git.locate import Location
from gitmem.git.program import run_git, start_git

WINDOW: Final = 60
"""Requests under way at once: 60 ids of 65 bytes stay below 4096, the smallest pipe there is."""


class ProgramReader:
    """An ObjectReader over `git cat-file --batch`."""

    def __init__(self, location: Location) -> None:
        self.damaged: set[str] = set()
        self._location = location
        self._idle: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start the process ahead of the first question, so that it comes up while other work is done."""
        if self._idle is None:
            self._idle = self._start()
        return self

    def size(self, oid: str) -> int | None:
        return self.sizes([oid])[0]

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        wanted = list(oids)
        args = ["--no-replace-objects", "cat-file", "--batch-check", "--buffer"]
        stdin = "".join(f"{oid}\n" for oid in wanted).encode("ascii")
        lines = run_git(args, git_dir=self._location.git_dir, stdin=stdin, check=False).stdout.splitlines()
        found = [_blob_size(line) for line in lines]
        return found + [self.size(oid) for oid in wanted[len(found) :]]

    def read(self, oid: str) -> bytes | None:
        return next(self.read_many([oid]))[1]

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        waiting = iter(oids)
        while window := list(islice(waiting, WINDOW)):
            yield from self._read_window(window)

    def close(self) -> None:
        process, self._idle = self._idle, None
        if process is not None:
            _stop(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        args = ["--no-replace-objects", "cat-file", "--batch"]
        return start_git(args, git_dir=self._location.git_dir, stderr=subprocess.DEVNULL)

    def _read_window(self, window: list[str]) -> Iterator[tuple[str, bytes | None]]:
        """Answer a window; where the process dies, ask a second one for that object, then give it up and go on."""
        tries = 0
        while window:
            answered = 0
            for oid, data in self._ask(window):
                answered += 1
                yield oid, data
            window, tries = window[answered:], tries + 1 if answered == 0 else 1
            if window and tries == 2:
                self.damaged.add(window[0])
                yield window[0], None
                window, tries = window[1:], 0

    def _ask(self, window: list[str]) -> Iterator[tuple[str, bytes | None]]:
        """Answers for as long as the process lives. It belongs to this call alone until the window is answered."""
        process, self._idle = self._idle or self._start(), None
        finished = False
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("".join(f"{oid}\n" for oid in window).encode("ascii"))
            process.stdin.flush()
            for oid in window:
                yield oid, self._answer(process.stdout)
            finished = True
        except (_ProcessGoneError, BrokenPipeError):
            return
        finally:
            if finished and self._idle is None:
                self._idle = process
            else:
                _stop(process)

    def _answer(self, stdout: IO[bytes]) -> bytes | None:
        header = stdout.readline().split()
        if len(header) == 2:
            return None
        if len(header) != 3 or not header[2].isdigit():
            raise _ProcessGoneError
        size = int(header[2])
        data = stdout.read(size)
        if len(data) != size or stdout.read(1) != b"\n":
            raise _ProcessGoneError
        return data if header[1] == b"blob" else None


class _ProcessGoneError(Exception):
    """The batch process ended, or stopped making sense, in the middle of an answer."""


def _blob_size(line: bytes) -> int | None:
    fields = line.split()
    return int(fields[2]) if len(fields) == 3 and fields[1] == b"blob" else None


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError):
        process.communicate()
