"""Start the server of the user after the first query, if the user's settings enable it."""

import os
from contextlib import suppress

from gitmem.cli import console
from gitmem.cli.invocation import current_invocation
from gitmem.settings import Settings

_ON = "true"


def start_user_server(settings: Settings) -> None:
    """Start the server of the user at the end of this command, unless one runs. Never waits, prints nothing.

    Only `gitmem.autoServe` enables it. A query that must not ask a server starts none either.
    """
    if settings.auto_serve != _ON or settings.use_server != _ON or console.client_console() is not None:
        return
    invocation = current_invocation()
    if invocation.server:
        # Also if the reader of the answer closes its pipe early, as `head` does.
        invocation.at_end(_start)


def _start() -> None:
    from gitmem.web.starting import launch_server

    # First the answer: its reader need not wait until the system has started a process. A server is a convenience: the
    # answer is complete without one, and `gitmem doctor` says whether one runs.
    with suppress(OSError):
        console.stdout().flush()
    with suppress(OSError):
        launch_server(os.environ)
