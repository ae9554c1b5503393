"""Notes that several answers about history share."""

from typing import Final

SHALLOW_NOTE: Final = "the clone is shallow and ends at {}: what came before is unknown (git fetch --unshallow)"
