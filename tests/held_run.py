"""gitmem with the fake model and batches of two files, which holds after a few batches.

usage: python -m tests.held_run -C REPOSITORY COMMAND ...

It writes `state/held` into the index then, and goes on when another process asks it to stop. No segment is published
before its end.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from gitmem.cli.main import main
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_protocol import Batch, PackedRows
from tests.faults.oracle import small_steps
from tests.indexes import InlinePool

HELD: Final = Path(".gitmem", "state", "held")
BATCHES: Final = 5


class HoldingPool(InlinePool):
    """Pool that holds before it returns one of its results."""

    def run(self, batches: Iterable[Batch], stop: StopRequest | None = None) -> Iterator[list[PackedRows]]:
        for number, result in enumerate(super().run(batches, stop)):
            if number == BATCHES:
                hold(Path(sys.argv[2]))
            yield result


def hold(repository: Path) -> None:
    """Say so in a file, and wait for a request to stop; a signal interrupts this too."""
    (repository / HELD).touch()
    requests = HELD.with_name("cancel"), Path(".gitmem", "history", "state", "cancel")
    while not any((repository / request).exists() for request in requests):
        time.sleep(0.01)


if __name__ == "__main__":
    with small_steps(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.indexing.run.Pool", HoldingPool)
        patch.setattr("gitmem.indexing.run.FLUSH_ROWS", 10**6)
        main()
