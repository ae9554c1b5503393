"""A session over standard input and output, from its start to the end of its client.

A thread greets the client while the main thread loads the SDK, then another one the model and the index.
"""

import faulthandler
import logging
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import ExitCode
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import max_message_bytes
from gitmem.mcp.transport.handshake import Handshake
from gitmem.mcp.transport.jsonrpc import claim_stdio
from gitmem.mcp.transport.shutdown import Shutdown
from gitmem.mcp.transport.stdin_reader import StdinReader

_GRACE_SECONDS: Final = 0.8
"""For what goes on behind the calls, to tidy up."""


def serve_stdio(folder: Path, environment: Mapping[str, str], tools: dict[str, Tool]) -> ExitCode:
    """Serve one client until it is gone; returns the exit code."""
    wire, life = claim_stdio(max_message_bytes(tools)), Shutdown()
    life.watch()
    faulthandler.enable()  # what no code can catch is told on standard error at least
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="gitmem: %(message)s")
    desk = ToolHandlers(folder, environment)
    inbox = StdinReader(wire, Handshake(tools.values()), life)
    threading.Thread(target=inbox.read, name="stdin", daemon=True).start()
    inbox.greeted.wait()
    if not life.over.is_set():
        from gitmem.mcp.server import make_server
        from gitmem.mcp.transport.sdk_bridge import run_server

        threading.Thread(target=desk.warm, name="warm", daemon=True).start()
        run_server(make_server(desk, tools), inbox, life)
    life.end()
    desk.close(_GRACE_SECONDS)
    return ExitCode.OK
