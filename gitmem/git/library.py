"""Blobs through pygit2. The only module that imports it; imported itself only when many blobs are to be read, because
pygit2 takes as long to start as eight bare Pythons."""

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

import pygit2

from gitmem.git.locate import Location


def find_reader(location: Location) -> "LibraryReader | None":
    """Open the repository with libgit2; None where that refuses (reftable, unknown extensions, another owner)."""
    try:
        repository = pygit2.Repository(str(location.git_dir), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, ValueError, OSError, KeyError):
        return None
    return LibraryReader(repository)


class LibraryReader:
    """An ObjectReader over libgit2's object database."""

    def __init__(self, repository: pygit2.Repository) -> None:
        self.damaged: set[str] = set()
        self._repository = repository
        self._odb = repository.odb

    def size(self, oid: str) -> int | None:
        try:
            kind, size = self._odb.read_header(pygit2.Oid(hex=oid))
        except KeyError:
            return None
        except (pygit2.GitError, OSError, ValueError):
            self.damaged.add(oid)
            return None
        return size if kind == pygit2.enums.ObjectType.BLOB else None

    def sizes(self, oids: Iterable[str]) -> list[int | None]:
        return [self.size(oid) for oid in oids]

    def read(self, oid: str) -> bytes | None:
        try:
            kind, data = self._odb.read(pygit2.Oid(hex=oid))
        except KeyError:
            return None
        except (pygit2.GitError, OSError, ValueError):
            self.damaged.add(oid)
            return None
        return data if kind == pygit2.enums.ObjectType.BLOB else None

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        for oid in oids:
            yield oid, self.read(oid)

    def close(self) -> None:
        self._repository.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
