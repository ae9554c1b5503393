"""Interface of the blob readers, and the fallback from one reader to the next.

A blob that does not exist is None and is never fetched from a remote. A blob that exists but cannot be read (corrupt,
truncated) is None too, and its id is put into `damaged`. Contents are verified against their id, and replacements
(`git replace`) are not followed.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from types import TracebackType
from typing import Protocol, Self


class ObjectReader(Protocol):
    """Reader of the blobs of one repository, usable until closed."""

    damaged: set[str]

    def size(self, oid: str) -> int | None:
        """Return the length in bytes from the header alone; None if the blob is missing, damaged or not a blob."""

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        """Return the lengths in the order of `oids`."""

    def read(self, oid: str) -> bytes | None:
        """Return the contents; None if the blob is missing, damaged or not a blob."""

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield the contents one by one, in the order of `oids`; only a few are held in memory at a time."""

    def close(self) -> None:
        """Release files and processes; may be called again."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def sizes_with_fallback(
    own: Callable[[str], int | None], fallback: ObjectReader, oids: Iterable[str]
) -> list[int | None]:
    """Return the lengths in the order of `oids`, each from `own`, or from `fallback` if `own` returns None."""
    requested = list(oids)
    sizes = [own(oid) for oid in requested]
    unknown = [number for number, size in enumerate(sizes) if size is None]
    others = fallback.sizes(requested[number] for number in unknown) if unknown else []
    for number, size in zip(unknown, others, strict=True):
        sizes[number] = size
    return sizes


def read_with_fallback(
    oids: Iterable[str], own: Container[str], read: Callable[[str], bytes | None], fallback: ObjectReader
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the contents in the order of `oids`: those in `own` through `read`, the rest in one `fallback` batch."""
    requested = list(oids)
    rest = fallback.read_many([oid for oid in requested if oid not in own])
    for oid in requested:
        yield (oid, read(oid)) if oid in own else next(rest)
    for _ in rest:  # exhaust the batch: only then can its process be reused
        pass
