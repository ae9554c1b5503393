"""Base of objects that hold files or processes open."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closeable(ABC):
    """Object that a `with` block closes at its end."""

    @abstractmethod
    def close(self) -> None:
        """Release files and processes. May be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
