"""Ask one thing of a child process that lives for it alone, with limits of time and memory."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from gitmem.errors import WorkersFailed
from gitmem.processes.child import ChildProcess
from gitmem.processes.fork import can_fork
from gitmem.processes.frames import read_frame, write_frame

_WALL_FACTOR: Final = 20.0
"""Wall time per processor time, after which a child counts as stuck: a busy machine must not refuse a request."""


def ask_once(command: Sequence[str], main: Callable[[], None], name: str, request: Any, seconds: float) -> Any:
    """Return the answer to a request, which may take `seconds` of processor time; None if a limit ended the child.

    `main` serves requests in a copy of this process, `command` in a new one. Raises: WorkersFailed if the process,
    called `name`, cannot work at all.
    """
    child = ChildProcess(command, name)
    try:
        if can_fork():
            child.fork(main)
        answer = child.ask(partial(write_frame, value=request), read_frame, _WALL_FACTOR * seconds)
        problem = child.last_error_line()
    finally:
        child.end()
        child.close()
    # A child that died without a message was ended by a limit.
    if answer is None and problem:
        raise WorkersFailed(f"the {name} failed: {problem}")
    return answer
