"""Blobs through `git cat-file`, kept running between questions.

A process that dies costs the object it died on, never the ones after it: every answer is read to its end or the
process is dropped. Requests go out in windows that fit into a pipe, so that neither side can block the other.

git streams what is in an object and does not look whether that is as much as the object claims. So each window ends
with a name that nothing has, and where git's answer to that comes too early an object was cut short; without it the
reader would wait for the rest for ever.
"""

import io
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, Self

from gitmem.closeable import Closeable
from gitmem.git.ids import object_id
from gitmem.git.locate import Location
from gitmem.git.program import run_git, start_git
from gitmem.git.promisor import ObjectSource

CAT_FILE: Final = ("--no-replace-objects", "cat-file")
BLOBS: Final = frozenset({b"blob"})
WINDOW: Final = 60
"""Requests under way at once: 60 ids of 65 bytes and the mark stay below 4096, the smallest pipe there is."""

_READ_AT_ONCE: Final = 1 << 20


class ProgramReader(Closeable):
    """An ObjectReader over `git cat-file --batch`; it reads blobs, or whatever `kinds` of objects it is told to."""

    def __init__(self, location: Location, kinds: frozenset[bytes] = BLOBS) -> None:
        self.damaged: set[str] = set()
        self._kinds = kinds
        self._format = location.object_format
        self._mark = f"end-{os.urandom(16).hex()}".encode("ascii")  # no content can hold it but by guessing
        self._objects = location.common_dir / "objects"
        self._source = ObjectSource(location)
        self._idle: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start the process ahead of the first question, so that it comes up while other work is done."""
        if self._idle is None:
            self._idle = self._start()
        return self

    def size(self, oid: str) -> int | None:
        return self.sizes([oid])[0]

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        return [_blob_size(line) for line in self._check(list(oids))]

    def missing(self, oids: Iterable[str]) -> set[str]:
        """The ids that are not there."""
        wanted = list(oids)
        return {oid for oid, line in zip(wanted, self._check(wanted), strict=True) if line.endswith(b" missing")}

    def read(self, oid: str) -> bytes | None:
        with suppress(StopIteration):
            return next(self._read_window([oid]))[1]
        return None

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        waiting = iter(oids)
        while window := list(islice(waiting, WINDOW)):
            yield from self._read_window(window)

    def close(self) -> None:
        process, self._idle = self._idle, None
        if process is not None:
            _stop(process)
        self._source.close()

    def _start(self) -> subprocess.Popen[bytes]:
        source = self._source
        return start_git(
            [*CAT_FILE, "--batch"], git_dir=source.git_dir, environment=source.environment, stderr=subprocess.DEVNULL
        )

    def _check(self, wanted: list[str]) -> list[bytes]:
        """The line git says of every object; empty for one it died of."""
        lines: list[bytes] = []
        while len(lines) < len(wanted):
            stdin = "".join(f"{oid}\n" for oid in wanted[len(lines) :]).encode("ascii")
            args = [*CAT_FILE, "--batch-check", "--buffer"]
            source = self._source
            result = run_git(args, git_dir=source.git_dir, environment=source.environment, stdin=stdin, check=False)
            lines += result.stdout.splitlines()
            if len(lines) < len(wanted):
                self.damaged.add(wanted[len(lines)])
                lines.append(b"")
        return lines

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
        open_answers = len(window)
        try:
            assert process.stdin is not None
            assert isinstance(process.stdout, io.BufferedReader)
            process.stdin.write("".join(f"{oid}\n" for oid in window).encode("ascii") + self._mark + b"\n")
            process.stdin.flush()
            for oid in window:
                data = self._answer(oid, process.stdout)
                open_answers -= 1
                if open_answers == 0 and self._is_mark(process.stdout.readline()) and self._idle is None:
                    self._idle = process
                yield oid, data
        except (_ProcessGoneError, BrokenPipeError):
            return
        finally:
            if self._idle is not process:
                _stop(process)

    def _is_mark(self, line: bytes) -> bool:
        return line == self._mark + b" missing\n"

    def _answer(self, oid: str, stdout: io.BufferedReader) -> bytes | None:
        header = stdout.readline().split()
        if len(header) not in (2, 3) or header[0] != oid.encode("ascii"):
            raise _ProcessGoneError
        if len(header) == 2:
            self._note_damage(oid)
            return None
        if not header[2].isdigit():
            raise _ProcessGoneError
        data = self._read(int(header[2]), stdout)
        if stdout.read(1) != b"\n" or object_id(header[1].decode("ascii"), data, self._format) != oid:
            raise _ProcessGoneError
        return data if header[1] in self._kinds else None

    def _read(self, size: int, stdout: io.BufferedReader) -> bytes:
        """So many bytes. Memory is taken as they come: a damaged object may claim any size."""
        data = bytearray()
        while len(data) < size:
            part = stdout.read1(min(size - len(data), _READ_AT_ONCE))
            data += part
            if not part or data.find(self._mark, max(0, len(data) - len(part) - len(self._mark))) >= 0:
                raise _ProcessGoneError
        return bytes(data)

    def _note_damage(self, oid: str) -> None:
        """git calls an object missing, too, whose file it cannot make sense of."""
        if (self._objects / oid[:2] / oid[2:]).exists():
            self.damaged.add(oid)


class _ProcessGoneError(Exception):
    """The batch process ended, or stopped making sense, in the middle of an answer."""


def _blob_size(line: bytes) -> int | None:
    fields = line.split()
    return int(fields[2]) if len(fields) == 3 and fields[1] == b"blob" else None


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError):
        process.communicate()
