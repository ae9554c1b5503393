"""Names of the refs that writers push: a ref outside branches, or a branch for hosts that refuse others.

Readers look at both places on every remote, so only a writer has to know which one its remote takes.
"""

from collections.abc import Mapping
from typing import Final

from gitmem.memory.record_paths import REMOTES, WRITERS
from gitmem.memory.writer_identity import is_writer_id

REF: Final = "ref"
BRANCH: Final = "branch"
BRANCHES: Final = "refs/heads/gitmem/"
PREFIXES: Final[Mapping[str, str]] = {REF: WRITERS, BRANCH: BRANCHES}
"""Prefix of the refs of writers by their place, the preferred one first."""

_FETCHED: Final = {WRITERS: "writers", BRANCHES: "branches"}
"""Folders of the refs that keep fetched commits. One writer may have both: an older ref, and a branch since."""

_FORMER: Final = "former"


def is_writer_ref(name: str) -> bool:
    """Return whether a ref of a remote is that of a writer."""
    prefix, writer = split_writer_ref(name)
    return prefix in _FETCHED and is_writer_id(writer)


def split_writer_ref(name: str) -> tuple[str, str]:
    """Return the prefix of a writer's ref and the id of the writer."""
    parent, slash, writer = name.rpartition("/")
    return parent + slash, writer


def fetched_reference(remote: str, name: str) -> str:
    """Return the name of the ref for a writer's commit as a remote had it last, by the name of its ref there."""
    prefix, writer = split_writer_ref(name)
    return f"{REMOTES}{remote}/{_FETCHED[prefix]}/{writer}"


def former_reference(remote: str) -> str:
    """Return the name of the ref for the memory that an earlier gitmem pushed to a remote."""
    return f"{REMOTES}{remote}/{_FORMER}"


def is_fetched_reference(name: str) -> bool:
    """Return whether a ref of this repository keeps a fetched commit. Other refs beside them are the user's."""
    parent, _, last = name.rpartition("/")
    folder = parent.rpartition("/")[2]
    return last == _FORMER or (folder in _FETCHED.values() and is_writer_id(last))
