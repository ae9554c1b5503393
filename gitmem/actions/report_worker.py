"""The program that renders one report in a process of its own, with limits of processor time and memory.

Started as `python -P -m gitmem.actions.report_worker`, or forked. It reads one request from standard input and writes
one answer to standard output: the text, or the refusal.
"""

import os
from typing import Final

from gitmem.errors import UsageError
from gitmem.processes.frames import read_frame, write_frame
from gitmem.processes.limits import limit_memory, limit_seconds

SECONDS: Final = 5
MEMORY: Final = 256 << 20

TEXT: Final = "text"
REFUSED: Final = "refused"
EXHAUSTED: Final = "exhausted"
"""Kinds of answers: the report; message and hint; nothing, because memory ran out."""


def main() -> None:
    """Answer one request: the limit of time, the template, its variables, and whether blank lines are kept."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a library prints must not reach the pipe
    from gitmem.actions.report_text import render_text

    seconds, template, values, keep_blank = read_frame(requests)
    limit_memory(MEMORY)
    limit_seconds(seconds)
    answer: tuple[str, ...]
    try:
        answer = (TEXT, render_text(template, values, keep_blank=keep_blank))
    except UsageError as refusal:
        answer = (REFUSED, refusal.message, refusal.hint)
    except MemoryError:
        answer = (EXHAUSTED,)
    write_frame(answers, answer)


if __name__ == "__main__":
    main()
