"""Extract the text of a document in a process of its own.

A mail, page or PDF can take any time and memory to parse, or crash a parser. It costs one clear error.
"""

import sys
from typing import Any, Final

from gitmem.errors import UsageError
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
from gitmem.named_tuple import NamedTuple
from gitmem.processes.single_request import ask_once

COMMAND: Final = (sys.executable, "-P", "-m", "gitmem.memory.extraction_worker")


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
    answer = ask_once(COMMAND, main, "process that reads documents", request, seconds)
    return _parse_answer(answer, name, chosen)


def _parse_answer(answer: Any, name: str, chosen: str) -> Extract:
    """Return the text of an answer, or raise its error. None is that of a child that a limit ended."""
    if answer is None or answer[0] == EXHAUSTED:
        raise UsageError(
            f"`{name}` takes too much time or memory to read as {chosen}",
            hint="extract its text first: ... | gitmem doc add -",
        )
    if answer[0] == REFUSED:
        raise UsageError(answer[1], hint=answer[2])
    return Extract(answer[1], dict(answer[2]))
