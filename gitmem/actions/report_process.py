"""Render a report in a process of its own: a template comes from a repository, and may take any time and memory."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from gitmem.actions.report_worker import EXHAUSTED, REFUSED, SECONDS, main
from gitmem.errors import UsageError, WorkersFailed
from gitmem.processes.child import ChildProcess
from gitmem.processes.fork import can_fork
from gitmem.processes.frames import read_frame, write_frame

COMMAND: Final = (sys.executable, "-P", "-m", "gitmem.actions.report_worker")

_WALL_FACTOR: Final = 20
"""Wall time per processor time, after which a child counts as stuck: a busy machine must not refuse a report."""


def render_in_process(
    name: str, template: str, values: Mapping[str, Any], *, keep_blank: bool, seconds: int = SECONDS
) -> str:
    """Return the text of a report; `name` is that of its template.

    Raises: UsageError, also if the limits are exceeded; WorkersFailed if the process cannot work at all.
    """
    request = (seconds, template, dict(values), keep_blank)
    child = ChildProcess(COMMAND, "process that renders reports")
    try:
        if can_fork():
            child.fork(main)
        answer = child.ask(partial(write_frame, value=request), read_frame, _WALL_FACTOR * seconds)
        problem = child.last_error_line()
    finally:
        child.end()
        child.close()
    if answer is None and problem:
        raise WorkersFailed(f"the process that renders reports failed: {problem}")
    if answer is None or answer[0] == EXHAUSTED:
        raise UsageError(
            f"template `{name}` takes too much time or memory", hint="gitmem report templates lists others"
        )
    if answer[0] == REFUSED:
        raise UsageError(f"template `{name}`: {answer[1]}", hint=answer[2])
    return str(answer[1])
