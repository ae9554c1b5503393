"""What stays open until it is closed."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closeable(ABC):
    """Base of what a `with` block closes at its end."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and processes; may be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
