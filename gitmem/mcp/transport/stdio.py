"""Session over standard input and output, from the start of the process to the end of its client.

Threads of a session:

    stdin      reads messages and answers the handshake, from the start
    main       loads the SDK after the first message, then runs its event loop
    warm-up    loads the model and the index in parallel to the SDK, then ends; `git status` was started before
    parent     checks whether the client still exists
    others     up to 16 threads of the event loop, one for each call
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
from gitmem.resident.command_server import ServeCommands

_CLOSE_SECONDS: Final = 0.8
"""Time for the background work to end; less than the grace period of the shutdown."""


def serve_stdio(
    folder: Path, environment: Mapping[str, str], tools: dict[str, Tool], serve_commands: ServeCommands
) -> ExitCode:
    """Serve one client until it ends; return the exit code. Call from the main thread."""
    stream, shutdown = claim_stdio(max_message_bytes(tools)), Shutdown()
    shutdown.watch_parent()
    shutdown.watch_signals()
    faulthandler.enable()  # a crash in a library at least leaves a trace on standard error
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="gitmem: %(message)s")
    handlers = ToolHandlers(folder, environment)
    reader = StdinReader(stream, Handshake(tools.values()), shutdown)
    threading.Thread(target=reader.read, name="stdin", daemon=True).start()
    reader.first_message_handled.wait()
    if not shutdown.requested.is_set():
        handlers.repositories.start_reading_own()
        loaded = threading.Event()
        shutdown.add_callback(loaded.set)
        threading.Thread(target=handlers.warm_up, args=(loaded.wait,), name="warm-up", daemon=True).start()
        # The SDK takes longer to load than everything else; loaded earlier, it would delay the handshake.
        from gitmem.mcp.server import make_server
        from gitmem.mcp.transport.sdk_bridge import run_server

        loaded.set()
        shutdown.add_callback(serve_commands(handlers.repositories).close)
        run_server(make_server(handlers, tools, use_roots=True), reader, shutdown)
    shutdown.request()
    handlers.close(_CLOSE_SECONDS)
    shutdown.finish()
    return ExitCode.OK
