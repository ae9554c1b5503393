"""Messages that come before the server is loaded keep their order and the time at which they came."""

import os
import threading
import time
from typing import Any

from gitmem.mcp.transport.handshake import Handshake
from gitmem.mcp.transport.jsonrpc import MessageStream
from gitmem.mcp.transport.shutdown import Shutdown
from gitmem.mcp.transport.stdin_reader import StdinReader


def test_messages_before_the_server_is_loaded_keep_their_order_and_times() -> None:
    source, target = os.pipe()
    shutdown = Shutdown()
    reader = StdinReader(MessageStream(source, os.open(os.devnull, os.O_WRONLY), 1000), Handshake([]), shutdown)
    forwarded: list[tuple[Any, float]] = []
    both_came = threading.Event()

    def forward(message: dict[str, Any], received: float) -> None:
        forwarded.append((message["id"], received))
        if message["id"] == 3:
            both_came.set()

    threading.Thread(target=reader.read, daemon=True).start()
    os.write(target, b'{"id": 1}\n{"id": 2}\n')
    assert reader.first_message_handled.wait(300)
    loaded = time.monotonic()
    reader.attach(forward)
    os.write(target, b'{"id": 3}\n')
    assert both_came.wait(300)
    shutdown.finish()  # the end of its input would end this process
    os.close(target)
    assert [number for number, _ in forwarded] == [1, 2, 3]
    assert forwarded[0][1] <= loaded <= forwarded[2][1]
