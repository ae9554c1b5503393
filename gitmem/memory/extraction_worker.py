"""The program that parses one document in a process of its own, with limits of processor time and memory.

Started as `python -P -m gitmem.memory.extraction_worker`, or forked. It reads one request from standard input and
writes one answer to standard output: the text with its fields, or the refusal.
"""

import os
from typing import Final

from gitmem.errors import UsageError
from gitmem.processes.frames import read_frame, write_frame
from gitmem.processes.limits import limit_memory, limit_seconds

SECONDS: Final = 10.0
BYTE_SECONDS: Final = 1e-5
MAX_SECONDS: Final = 120.0
"""Limits of processor time: HTML takes 1.5 µs per byte."""

MEMORY: Final = 1 << 30
MEMORY_PER_BYTE: Final = 64
"""Limits of memory; HTML takes some 20 bytes per byte."""

TEXT: Final = "text"
REFUSED: Final = "refused"
EXHAUSTED: Final = "exhausted"
"""Kinds of answers: text and fields; message and hint; nothing, because memory ran out."""


def main() -> None:
    """Answer one request: the limits of time and memory per document, its bytes, name and format."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a library prints must not reach the pipe
    from gitmem.memory.extract import extract

    seconds, memory, data, name, file_format = read_frame(requests)
    limit_memory(memory)
    limit_seconds(seconds)
    answer: tuple[object, ...]
    try:
        content, fields = extract(data, name, file_format)
        answer = (TEXT, content, list(fields.items()))
    except UsageError as refusal:
        answer = (REFUSED, refusal.message, refusal.hint)
    except (MemoryError, RecursionError):
        answer = (EXHAUSTED,)
    write_frame(answers, answer)


if __name__ == "__main__":
    main()
