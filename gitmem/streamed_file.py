"""A file that is written part by part, and gets its name only when it is complete.

Unlike `fsio.write_atomic`, it needs neither all parts in memory nor the name beforehand: a segment is named by the hash
of its bytes, and may be larger than the memory that its writer may use.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from gitmem import fsio
from gitmem.fsio import FILE_MODE, sync_folder
from gitmem.storage_errors import storage_failed

_BUFFER_BYTES: Final = 1 << 20
"""Bytes that are collected before a system call."""


class StreamedFile:
    """Temporary file in a `with` block; it is removed at the end of the block unless `publish` was called."""

    def __init__(self, temporary: Path) -> None:
        """Create the file. Raises: StorageFailed."""
        self._path = temporary
        self._waiting = bytearray()
        self._is_open = True
        self._is_published = False
        self.bytes = 0
        try:
            self._handle = fsio.disk.create(temporary, FILE_MODE)
        except OSError as problem:
            raise storage_failed(temporary, problem) from problem

    def write(self, part: bytes | bytearray | memoryview) -> None:
        """Append bytes. Raises: StorageFailed."""
        view = memoryview(part)
        view = view.cast("B") if view.nbytes else memoryview(b"")  # an empty array cannot be cast
        self.bytes += view.nbytes
        if len(self._waiting) + view.nbytes < _BUFFER_BYTES:
            self._waiting += view
            return
        self._flush()
        self._write(view)

    def publish(self, target: Path) -> None:
        """Make the content durable, then the name. Raises: StorageFailed; a file of that name remains then."""
        self._flush()
        try:
            # Before the rename: otherwise a power cut may leave the name with empty content.
            fsio.disk.sync(self._handle)
            self._close()
            fsio.disk.rename(self._path, target)
        except OSError as problem:
            raise storage_failed(target, problem) from problem
        self._is_published = True
        sync_folder(target.parent)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, bytearray()
        self._write(memoryview(waiting))

    def _write(self, data: memoryview) -> None:
        try:
            while data:  # a system call may write only a part, above all of more than 2 GiB
                data = data[fsio.disk.write(self._handle, data) :]
        except OSError as problem:
            raise storage_failed(self._path, problem) from problem

    def _close(self) -> None:
        self._is_open = False
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            self._close()
        if not self._is_published:
            with suppress(OSError):
                fsio.disk.unlink(self._path)
