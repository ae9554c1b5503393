"""Algebra of shared records: versions of a record, and the union of what several writers know. Pure.

A version is one change of one record. It names every version of the record that its writer had seen, so it supersedes
exactly these (causal histories, Schwarz and Mattern 1994; as in an observed-remove register). What remains after all
superseded versions are dropped does not depend on the order or number of unions: they are commutative, associative and
idempotent.
"""

import hashlib
from collections.abc import Container, Iterable, Mapping
from typing import Final

from gitmem.named_tuple import NamedTuple

# The id of a version does not contain its writer. Two writers who make the same change to the same versions make the
# same version, so a change that is published twice, by a copied clone or after a crash, is no conflict. A version
# vector would be smaller, but two clones with the same id of a writer would hide each other's versions.

_ID_DIGITS: Final = 20
"""Digits of a version's id: 80 bits, compared only among the versions of one record."""


class Version(NamedTuple):
    """State that a writer gave to a record. `content` is the id of its blob, None if the writer deleted it.

    `seen` has the ids of all versions that the writer knew, and those that these had seen.
    """

    content: str | None
    seen: frozenset[str] = frozenset()


Versions = Mapping[str, Version]
"""Versions of one record by their ids; none of them has seen another one."""

State = Mapping[bytes, Versions]
"""Versions of every record by its path."""


def version_id(path: bytes, version: Version) -> str:
    """Return the id of a version of the record at a path: a hash of everything it consists of."""
    parts = [path, (version.content or "").encode(), *sorted(each.encode() for each in version.seen)]
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:_ID_DIGITS]


def merge_states(states: Iterable[State]) -> dict[bytes, Versions]:
    """Return the union of states without superseded versions."""
    union: dict[bytes, dict[str, Version]] = {}
    for state in states:
        for path, versions in state.items():
            union.setdefault(path, {}).update(versions)
    return {path: _drop_superseded(versions) for path, versions in union.items()}


def _drop_superseded(versions: Versions) -> Versions:
    if len(versions) == 1:
        return versions
    seen = frozenset[str]().union(*(version.seen for version in versions.values()))
    return {name: version for name, version in versions.items() if name not in seen}


def contents(versions: Versions, purged: Container[str] = ()) -> list[str]:
    """Return the distinct contents of a record, sorted; none if it is deleted, several after concurrent changes.

    A deletion has no effect beside a concurrent change: losing words is worse than deleting them twice. A purge has:
    contents that are `purged` are left out.
    """
    present = {version.content for version in versions.values() if version.content is not None}
    return sorted(content for content in present if content not in purged)


def succeed(path: bytes, versions: Versions, removed: Iterable[str], content: str | None) -> dict[str, Version]:
    """Return the version that replaces the `removed` contents of a record by `content`, by its id; None deletes them.

    Other contents remain, so an unsolved conflict stays one.
    """
    gone = {None, *removed}
    seen = {name: version for name, version in versions.items() if version.content in gone}
    version = Version(content, frozenset(seen).union(*(each.seen for each in seen.values())))
    return {version_id(path, version): version}
