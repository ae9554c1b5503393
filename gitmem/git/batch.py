"""Reading of blobs through a long-running `git cat-file --batch`.

A dying process costs only the object it died on: each response is read to its end, or the process is discarded and the
rest is requested from a new one.
"""

# Two properties of the protocol shape this module.
#
# 1. Pipes have bounded buffers. Were all requests written before a response is read, git would block on its full
#    output and this process on git's full input. So requests go out in windows that fit into the smallest pipe buffer.
#    Rejected: a round trip per object, which costs its latency, and a writer thread, which must be stopped with git.
# 2. git streams a loose object without checking that its content is as long as its header claims. For a truncated
#    object it sends too few bytes, and a reader that trusts the header waits for the rest forever. So each window ends
#    with a request for an object that cannot exist, under a random name (the sentinel). If git's answer to it turns up
#    inside an object, that object is truncated.

import io
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, Self

from gitmem.closeable import Closeable
from gitmem.git.ids import object_id
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git, start_git
from gitmem.git.promisor import ObjectSource

CAT_FILE: Final = ("--no-replace-objects", "cat-file")

_LITTLE_MEMORY: Final = (
    "-c", "core.packedGitWindowSize=4m", "-c", "core.packedGitLimit=32m", "-c", "core.deltaBaseCacheLimit=16m",
)  # fmt: skip
"""By default git maps packs as a whole, and what it has read of them counts as memory: half a gigabyte for 200 MB of
blobs from thirteen packs, with these limits a third of that, in the same time."""

BLOBS: Final = frozenset({b"blob"})
COMMITS: Final = frozenset({b"commit"})
WINDOW: Final = 60
"""Requests in flight at once: 60 ids of 65 bytes and the sentinel stay below 4096 bytes, the smallest pipe buffer."""

_READ_AT_ONCE: Final = 1 << 20


class ProgramReader(Closeable):
    """ObjectReader over `git cat-file --batch`, for blobs or the given `kinds` of objects."""

    def __init__(self, location: RepositoryLocation, kinds: frozenset[bytes] = BLOBS) -> None:
        self.damaged: set[str] = set()
        self._kinds = kinds
        self._format = location.object_format
        self._sentinel = f"end-{os.urandom(16).hex()}".encode("ascii")  # random: content contains it only by guessing
        self._objects = location.common_dir / "objects"
        self._source = ObjectSource(location)
        self._idle: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start the process before the first request, so that it comes up while other work is done."""
        if self._idle is None:
            self._idle = self._start()
        return self

    def size(self, oid: str) -> int | None:
        return self.sizes([oid])[0]

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        return [self._size(line) for line in self._check(list(oids))]

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
            [*_LITTLE_MEMORY, *CAT_FILE, "--batch"],
            git_dir=source.git_dir, environment=source.environment, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def _check(self, oids: list[str]) -> list[bytes]:
        """Return git's `--batch-check` line of every object; empty for one that git died on."""
        lines: list[bytes] = []
        while len(lines) < len(oids):
            stdin = "".join(f"{oid}\n" for oid in oids[len(lines) :]).encode("ascii")
            args = [*CAT_FILE, "--batch-check", "--buffer"]
            source = self._source
            result = run_git(args, git_dir=source.git_dir, environment=source.environment, stdin=stdin, check=False)
            lines += result.stdout.splitlines()
            if len(lines) < len(oids):
                self.damaged.add(oids[len(lines)])
                lines.append(b"")
        return lines

    def _size(self, line: bytes) -> int | None:
        fields = line.split()
        return int(fields[2]) if len(fields) == 3 and fields[1] in self._kinds else None

    def _read_window(self, window: list[str]) -> Iterator[tuple[str, bytes | None]]:
        """Read a window. If the process dies on an object, retry it once with a new one, then report it damaged."""
        tries = 0
        while window:
            answered = 0
            for oid, data in self._request(window):
                answered += 1
                yield oid, data
            window, tries = window[answered:], tries + 1 if answered == 0 else 1
            if window and tries == 2:
                self.damaged.add(window[0])
                yield window[0], None
                window, tries = window[1:], 0

    def _request(self, window: list[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield responses until the window is done or the process dies.

        The process is taken out of `_idle` for that time: an abandoned iterator must not leave responses in the pipe
        for the next request. It is put back only after the sentinel has been read.
        """
        process, self._idle = self._idle or self._start(), None
        unanswered = len(window)
        try:
            assert process.stdin is not None
            assert isinstance(process.stdout, io.BufferedReader)
            process.stdin.write("".join(f"{oid}\n" for oid in window).encode("ascii") + self._sentinel + b"\n")
            process.stdin.flush()
            for oid in window:
                data = self._read_response(oid, process.stdout)
                unanswered -= 1
                if unanswered == 0 and self._is_sentinel(process.stdout.readline()) and self._idle is None:
                    self._idle = process
                yield oid, data
        except (_ProcessGoneError, BrokenPipeError):
            return
        finally:
            if self._idle is not process:
                _stop(process)

    def _is_sentinel(self, line: bytes) -> bool:
        return line == self._sentinel + b" missing\n"

    def _read_response(self, oid: str, stdout: io.BufferedReader) -> bytes | None:
        """Read one response: `<oid> <kind> <size>`, content and line feed; or `<oid> missing`."""
        header = stdout.readline().split()
        if len(header) not in (2, 3) or header[0] != oid.encode("ascii"):
            raise _ProcessGoneError
        if len(header) == 2:
            self._note_damage(oid)
            return None
        if not header[2].isdigit():
            raise _ProcessGoneError
        data = self._read_content(int(header[2]), stdout)
        if stdout.read(1) != b"\n" or object_id(header[1].decode("ascii"), data, self._format) != oid:
            raise _ProcessGoneError
        return data if header[1] in self._kinds else None

    def _read_content(self, size: int, stdout: io.BufferedReader) -> bytes:
        """Read `size` bytes. Memory is allocated as they arrive, because a damaged object may claim any size."""
        data = bytearray()
        while len(data) < size:
            part = stdout.read1(min(size - len(data), _READ_AT_ONCE))
            data += part
            # The sentinel may straddle two reads.
            if not part or data.find(self._sentinel, max(0, len(data) - len(part) - len(self._sentinel))) >= 0:
                raise _ProcessGoneError
        return bytes(data)

    def _note_damage(self, oid: str) -> None:
        """Record damage if a "missing" object has a file: git calls an object missing if it cannot parse its file."""
        if (self._objects / oid[:2] / oid[2:]).exists():
            self.damaged.add(oid)


class _ProcessGoneError(Exception):
    """The batch process ended, or sent an invalid response."""


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError):
        process.communicate()
