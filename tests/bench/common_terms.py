"""Choose the terms of `gitmem/org/common_terms.py`: those that many files of many repositories have.

usage: python -m tests.bench.common_terms REPOSITORY...

A term is worth the bytes that a file with it saves, by the mean of its share of files over the repositories. Terms that
few repositories have are left out: a name of a project is frequent in that project alone.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gitmem.words import decode, find_identifiers, terms_of
from tests.bench.subjects import git, git_with_input

BYTES: Final = 4096
"""Size of the dictionary. One of 8,000 bytes makes records another 0.5 % smaller, one of 30,000 bytes does not."""

_REPOSITORIES: Final = 0.4
_FILES: Final = 800
_FILE_BYTES: Final = range(50, 60_000)


def choose_terms(repositories: Sequence[Path]) -> list[str]:
    """Return the terms in alphabetical order."""
    shares: Counter[str] = Counter()
    owners: Counter[str] = Counter()
    for repository in repositories:
        files = [terms for terms in map(_terms, _iter_files(repository)) if terms]
        counts = Counter(term for terms in files for term in terms)
        owners.update(counts.keys())
        shares.update({term: number / len(files) for term, number in counts.items()})
    frequent = [term for term in shares if owners[term] >= _REPOSITORIES * len(repositories)]
    chosen, size = [], 0
    for term in sorted(frequent, key=lambda term: (-shares[term] * len(term), term)):
        size += len(term.encode()) + 1
        if size > BYTES:
            break
        chosen.append(term)
    return sorted(chosen)


def _iter_files(repository: Path) -> Iterator[bytes]:
    """Yield some files of HEAD that are probably text."""
    entries = [line.split()[1:3] for line in git(repository, "ls-tree", "-r", "HEAD").splitlines()]
    oids = [oid for kind, oid in entries if kind == "blob"][:_FILES]
    output, at = git_with_input(repository, "\n".join(oids).encode(), "cat-file", "--batch"), 0
    while at < len(output):
        start = output.index(b"\n", at) + 1
        size = int(output[at:start].split()[-1])
        data = output[start : start + size]
        at = start + size + 1
        if size in _FILE_BYTES and b"\0" not in data:
            yield data


def _terms(data: bytes) -> set[str]:
    """Return the terms of a file that are ASCII, as those of most code are."""
    terms = {term for identifier in set(find_identifiers(decode(data))) for term in terms_of(identifier)}
    return {term for term in terms if term.isascii()}


if __name__ == "__main__":
    print(" ".join(choose_terms([Path(name) for name in sys.argv[1:]])))
