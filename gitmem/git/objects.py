"""Blobs by id, through pygit2 where many are read and through `git cat-file` everywhere else.

A blob that is not there is None and never fetched from a remote. A blob that is there but cannot be read (corrupt, cut
short) is None too, and its id is put into `damaged`. Contents are what the id says: they are hashed, and replacements
are not followed.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Final, Protocol, Self

from gitmem.git.batch import ProgramReader
from gitmem.git.locate import Location

BULK_FROM: Final = 8_000
"""Number of blobs from which on pygit2 wins back the time that importing it takes."""


class ObjectReader(Protocol):
    """Reads blobs of one repository until closed."""

    damaged: set[str]

    def size(self, oid: str) -> int | None:
        """Length in bytes from the header alone; None when missing, damaged or no blob."""

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        """Lengths in the order of `oids`."""

    def read(self, oid: str) -> bytes | None:
        """Contents; None when missing, damaged or no blob."""

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Contents one after the other, in the order of `oids`; only a few are held at a time."""

    def close(self) -> None:
        """Let go of files and processes; may be called again."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_reader(location: Location, *, bulk: bool, files: Mapping[str, bytes] | None = None) -> ObjectReader:
    """Open pygit2 for `bulk` (from about BULK_FROM blobs on) where packs can be read with it, else the git program.

    `files` are blobs that are only files of the working tree so far, with their paths.
    """
    others = _open_database(location, bulk=bulk)
    if not files:
        return others
    from gitmem.git.working_files import FileReader

    return FileReader(location, files, others)


def _open_database(location: Location, *, bulk: bool) -> ObjectReader:
    if bulk:
        from gitmem.git import library

        reader = library.find_reader(location)
        if reader is not None:
            return reader
    return ProgramReader(location)


def sizes_from(own: Callable[[str], int | None], others: ObjectReader, oids: Iterable[str]) -> list[int | None]:
    """Lengths in the order of `oids`, each from `own`, and from `others` where that knows none."""
    wanted = list(oids)
    sizes = [own(oid) for oid in wanted]
    unknown = [number for number, size in enumerate(sizes) if size is None]
    found = others.sizes(wanted[number] for number in unknown) if unknown else []
    for number, size in zip(unknown, found, strict=True):
        sizes[number] = size
    return sizes


def read_in_turn(
    oids: Iterable[str], own: Container[str], read: Callable[[str], bytes | None], others: ObjectReader
) -> Iterator[tuple[str, bytes | None]]:
    """Contents in the order of `oids`, those of `own` by `read`, all the rest asked of `others` at once."""
    wanted = list(oids)
    answers = others.read_many([oid for oid in wanted if oid not in own])
    for oid in wanted:
        yield (oid, read(oid)) if oid in own else next(answers)
    for _ in answers:  # lets it come to its end, so that its process can be used again
        pass
