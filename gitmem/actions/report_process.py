"""Render a report in a process of its own: a template comes from a repository, and may take any time and memory."""

import sys
from collections.abc import Mapping
from typing import Any, Final

from gitmem.actions.report_worker import EXHAUSTED, REFUSED, SECONDS, main
from gitmem.errors import UsageError
from gitmem.processes.single_request import ask_once

COMMAND: Final = (sys.executable, "-P", "-m", "gitmem.actions.report_worker")


def render_in_process(
    name: str, template: str, values: Mapping[str, Any], *, keep_blank: bool, seconds: int = SECONDS
) -> str:
    """Return the text of a report; `name` is that of its template.

    Raises: UsageError, also if the limits are exceeded; WorkersFailed if the process cannot work at all.
    """
    request = (seconds, template, dict(values), keep_blank)
    answer = ask_once(COMMAND, main, "process that renders reports", request, seconds)
    if answer is None or answer[0] == EXHAUSTED:
        raise UsageError(
            f"template `{name}` takes too much time or memory", hint="gitmem report templates lists others"
        )
    if answer[0] == REFUSED:
        raise UsageError(f"template `{name}`: {answer[1]}", hint=answer[2])
    return str(answer[1])
