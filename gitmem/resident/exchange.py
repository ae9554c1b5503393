"""One command of a client while it runs: beats to the client, its standard input, its disappearance, and the answer."""

import select
import threading
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from gitmem.resident.call import Call, CallCancelled
from gitmem.resident.wire import BEAT, BEAT_SECONDS, EXIT, INPUT, MAX_ANSWER, REFUSED, Channel

_SEND_SECONDS: Final = 10.0
"""Longest wait for a client that does not read its answer."""

_INPUT_SECONDS: Final = 3600.0
"""Longest wait for the standard input of a client, which may be a person who types."""

_PART_BYTES: Final = 1 << 20
"""Size of the messages into which a large part of an answer is split."""


class Exchange:
    """Connection to a client whose command runs; a `with` block keeps the client informed that it does.

    `call` is cancelled when the client goes away. The answer is collected and sent at the end: the client prints all of
    it or nothing.
    """

    def __init__(self, channel: Channel) -> None:
        self.call = Call(builds_index=False)
        self._channel = channel
        self._answer: list[tuple[bytes, bytes]] = []
        self._size = 0
        self._input: bytes | None = None
        self._has_input = threading.Event()
        self._ended = threading.Event()
        self._sending = threading.Lock()
        """Held while a message is sent; beats and the answer come from different threads."""
        self._watcher = threading.Thread(target=self._watch, name="connection", daemon=True)

    def __enter__(self) -> Self:
        self._channel.set_timeout(_SEND_SECONDS)
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._channel.shut_down()
        self._watcher.join()

    def write(self, kind: bytes, data: bytes) -> None:
        """Add a part to the answer: OUT, ERR or PAGER. Raises CallCancelled if the answer gets too large."""
        self._size += len(data)
        if self._size > MAX_ANSWER // 2:
            raise CallCancelled
        self._answer.append((kind, data))

    def read_input(self, limit: int) -> bytes:
        """Return at most `limit` bytes of the client's standard input. Raises CallCancelled."""
        self._send(INPUT, limit.to_bytes(4, "big"))
        self.call.wait(self._has_input, _INPUT_SECONDS)
        if self._input is None:
            raise CallCancelled
        return self._input

    def finish(self, code: int) -> None:
        """Send the answer and the exit code, unless the call was cancelled."""
        self.call.check()
        self._ended.set()
        for kind, data in self._answer:
            for start in range(0, max(len(data), 1), _PART_BYTES):
                self._send(kind, data[start : start + _PART_BYTES])
        self._send(EXIT, bytes([code]))

    def refuse(self) -> None:
        """Leave the command to the client."""
        self._ended.set()
        self._send(REFUSED, b"")

    def abort(self) -> None:
        """Cancel the call and close the connection, from any thread."""
        self.call.cancel()
        self._channel.shut_down()

    def _send(self, kind: bytes, data: bytes) -> None:
        try:
            with self._sending:
                self._channel.send(kind, data)
        except OSError as error:
            self.call.cancel()
            raise CallCancelled from error

    def _watch(self) -> None:
        """Send beats, and receive the input of the client, until it is gone or the answer is sent."""
        events = select.poll()
        events.register(self._channel.fileno(), select.POLLIN)
        with suppress(CallCancelled, OSError, EOFError, ValueError):
            while not self._ended.is_set():
                if not events.poll(BEAT_SECONDS * 1000):
                    self._send(BEAT, b"")
                    continue
                kind, data = self._channel.receive()
                if kind != INPUT:
                    break
                self._input = data
                self._has_input.set()
        if not self._ended.is_set():
            self.call.cancel()
        self._has_input.set()
