"""How big chunks are. An index made with other values is another index."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in bytes. A chunk's own text stays below `max_bytes`, neighbours that are no unit are merged up to it."""

    max_bytes: int = 1600
    min_bytes: int = 200
    overlap: int = 160
    parse_seconds: float = 1.0
    max_chunks: int = 4000

    def __post_init__(self) -> None:
        if not self.max_bytes >= 64 or not 0 <= self.min_bytes <= self.max_bytes:
            raise ValueError(f"chunk sizes out of range: {self.min_bytes}..{self.max_bytes}")
        if not 0 <= self.overlap <= self.max_bytes // 2 or self.max_chunks < 2:
            raise ValueError(f"overlap {self.overlap} or chunk count {self.max_chunks} out of range")


DEFAULT_LIMITS: Final = ChunkLimits()
