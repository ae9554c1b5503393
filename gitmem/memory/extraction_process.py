"""Extract the text of a document in a process of its own.

A mail, page or PDF can take any time and memory to parse, or crash a parser. It costs one clear error.
"""

import sys
from functools import partial
from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError, WorkersFailed
from gitmem.memory.extract import Extract, detect_format, extract
from gitmem.memory.extraction_worker import (
    BYTE_SECONDS,
    EXHAUSTED,
    MAX_SECONDS,
    MEMORY,
    MEMORY_PER_BYTE,
    REFUSED,
    SECONDS,
    main,
)
from gitmem.processes.child import ChildProcess
from gitmem.processes.fork import can_fork
from gitmem.processes.frames import read_frame, write_frame

COMMAND: Final = (sys.executable, "-P", "-m", "gitmem.memory.extraction_worker")

_WALL_FACTOR: Final = 20.0
"""Wall time per processor time, after which a child counts as stuck: a busy machine must not refuse a document."""


class Limits(NamedTuple):
    """Processor time in seconds and memory in bytes, each with a share per byte of the document."""

    seconds: float = SECONDS
    byte_seconds: float = BYTE_SECONDS
    memory: int = MEMORY
    memory_per_byte: int = MEMORY_PER_BYTE


def extract_in_process(data: bytes, name: str, file_format: str = "", limits: Limits = Limits()) -> Extract:  # noqa: B008
    """Extract the text of a file as `extract` does. Plain text, which needs no parser, is read in this process.

    Raises: UsageError, also if the limits are exceeded; WorkersFailed if the process cannot work at all.
    """
    chosen = file_format or detect_format(data, name)
    if chosen == "text":
        return extract(data, name, chosen)
    seconds = min(limits.seconds + limits.byte_seconds * len(data), MAX_SECONDS)
    request = (seconds, limits.memory + limits.memory_per_byte * len(data), data, name, chosen)
    child = ChildProcess(COMMAND, "process that reads documents")
    try:
        if can_fork():
            child.fork(main)
        answer = child.ask(partial(write_frame, value=request), read_frame, _WALL_FACTOR * seconds)
        problem = child.last_error_line()
    finally:
        child.end()
        child.close()
    return _parse_answer(answer, problem, name, chosen)


def _parse_answer(answer: Any, problem: str, name: str, chosen: str) -> Extract:
    """Return the text of an answer, or raise its error. A child that died without a message was ended by a limit."""
    if answer is None and problem:
        raise WorkersFailed(f"the process that reads documents failed: {problem}")
    if answer is None or answer[0] == EXHAUSTED:
        raise UsageError(
            f"`{name}` takes too much time or memory to read as {chosen}",
            hint="extract its text first: ... | gitmem doc add -",
        )
    if answer[0] == REFUSED:
        raise UsageError(answer[1], hint=answer[2])
    return Extract(answer[1], dict(answer[2]))
