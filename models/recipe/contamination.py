"""Exclude the evaluation sets from training: their packages by name, and copies of their code in other packages."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

from gitmem.chunking.languages import language_of
from models.recipe.pairs import Pair, body_digests, read_source

EXCLUDED_FILE: Final = Path(__file__).with_name("excluded.txt")
MAX_FILE: Final = 400_000


def is_excluded(package: str) -> bool:
    """Return whether a package belongs to an evaluation set, by its name in a registry."""
    return any(fnmatchcase(package.lower(), pattern) for pattern in _patterns())


@cache
def _patterns() -> tuple[str, ...]:
    lines = EXCLUDED_FILE.read_text().splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def digests_of_folders(folders: Iterable[Path]) -> frozenset[str]:
    """Return the digests of all definitions in checkouts of the evaluation repositories."""
    return frozenset(digest for folder in folders for path in _files(folder) for digest in _digests(path))


def without(pairs: Iterable[Pair], digests: frozenset[str]) -> Iterator[Pair]:
    """Yield the pairs whose code is in no evaluation set."""
    return (pair for pair in pairs if pair.digest not in digests)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        # `.git` and other hidden folders hold no sources of the project.
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE:
            yield path


def _digests(path: Path) -> Iterator[str]:
    source = read_source(path.read_bytes(), language_of(path.name), path.name)
    if source is not None:
        yield from body_digests(source)
