"""Signatures of shared records: who signs, what a received signature is worth, and which records are refused.

A signature is that of the commit of a writer, whose tree has every version that the writer shares.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from gitmem.errors import DamagedFile, NewerFormat, UsageError
from gitmem.git.commit_signing import (
    BAD,
    GOOD,
    UNKNOWN,
    UNSIGNED,
    Author,
    check_signatures,
    is_signed,
    read_signing_key,
    signature_state,
)
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import run_git
from gitmem.memory.record_store import RecordStore
from gitmem.memory.shared_state import SharedState, read_shared, read_writer
from gitmem.memory.versions import State
from gitmem.memory.writer_tree import WriterState

ACCEPT, MARK, REFUSE = "accept", "mark", "refuse"

_FINAL: Final = (GOOD, UNSIGNED)
"""States that are not checked again. The others may change, for example when the key of a colleague is added."""

_RANKS: Final = ("", BAD, UNSIGNED, UNKNOWN)
_BEST: Final = len(_RANKS) + 1


def writer_name(location: RepositoryLocation) -> str:
    """Return name and address of the user, as git has them. Raises UsageError."""
    result = run_git(["var", "GIT_AUTHOR_IDENT"], git_dir=location.git_dir, check=False)
    name = result.stdout.decode("utf-8", "replace").strip().rpartition(">")[0]
    if not name:
        raise UsageError("git does not know who you are", hint='git config user.name "Your Name"')
    return f"{name}>"


def read_author(location: RepositoryLocation) -> Author:
    """Return the user as the author of commits, who signs them as the user's own commits. Raises UsageError."""
    name = writer_name(location)
    return Author(name, read_signing_key(location, name))


def rank(signature: str) -> int:
    """Return how much a described signature is worth: a record keeps the best one that it came with."""
    state = signature_state(signature)
    if state == GOOD:
        return _BEST
    return _RANKS.index(state) if state in _RANKS else len(_RANKS)


def describe_signatures(
    location: RepositoryLocation, store: RecordStore, commits: Iterable[str], known: Mapping[str, str], policy: str
) -> dict[str, str]:
    """Return the state of the signature of each commit; none if the policy accepts every record."""
    if policy == ACCEPT:
        return {}
    states: dict[str, str] = {}
    unchecked = []
    for commit in commits:
        if signature_state(known.get(commit, "")) in _FINAL:
            states[commit] = known[commit]
        elif is_signed(store.find_object(commit) or b""):
            unchecked.append(commit)
        else:
            states[commit] = UNSIGNED
    return states | check_signatures(location, unchecked)


def is_refused(signature: str, policy: str) -> bool:
    """Return whether new records that came with a signature are left out. A wrong signature is a forgery."""
    state = signature_state(signature)
    return state == BAD or (policy == REFUSE and state != GOOD)


def without_new(state: WriterState, known: SharedState) -> WriterState:
    """Return a writer's state without the versions and purges that this clone does not have already."""
    held: State = {
        path: {name: version for name, version in versions.items() if name in known.held.get(path, {})}
        for path, versions in state.versions.items()
    }
    purges = {name: blobs for name, blobs in state.purges.items() if name in known.purges}
    return state._replace(versions={path: versions for path, versions in held.items() if versions}, purges=purges)


def is_foreign(location: RepositoryLocation, store: RecordStore, commit: str, signature: str) -> bool:
    """Return whether a commit of this clone's own ref has versions of others, without a good signature.

    Anybody who can push may have added them. A signature of this clone must not vouch for them.
    """
    if signature_state(signature) == GOOD:
        return False
    known = read_shared(location, store)
    try:
        state = read_writer(store, commit, commit)
    except (DamagedFile, NewerFormat):
        return False  # the push replaces it, or refuses to
    for path, versions in state.versions.items():
        own = known.own.get(path, {})
        if versions.keys() - own.keys() - frozenset[str]().union(*(version.seen for version in own.values())):
            return True
    return bool(state.purges.keys() - known.purges.keys())
