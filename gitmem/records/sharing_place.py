"""Choose where a clone's records are on a remote: refs of their own, or branches if the host refuses other refs.

The choice is tested by a real push of the clone's own ref, without records: hosts refuse in hooks and hide refs in ways
that only a push and a look afterwards show.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from gitmem.errors import DamagedFile, GitFailed, NewerFormat, UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.git.commit_signing import Author
from gitmem.git.locate import RepositoryLocation
from gitmem.git.references import read_reference
from gitmem.git.remotes import (
    RefUpdate,
    exclude_from_fetches,
    fetch_refs,
    find_push_url,
    find_remote,
    list_remote_refs,
    push_refs,
    read_remote_setting,
    write_remote_setting,
)
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.shared_state import list_fetched, read_shared, read_writer, store_again, store_writer
from gitmem.memory.union import place_records
from gitmem.memory.versions import State, contents, merge_states
from gitmem.memory.visibility import VISIBILITY
from gitmem.memory.writer_identity import read_writer_id
from gitmem.memory.writer_refs import BRANCH, BRANCHES, PREFIXES, REF, fetched_reference
from gitmem.memory.writer_tree import WriterState
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record, format_record
from gitmem.records.exchange_lock import exchange_lock
from gitmem.records.sharing import own_writer, read_memory, require_whole_memory
from gitmem.records.signed_records import read_author
from gitmem.workspace import Workspace

PLACES: Final = tuple(PREFIXES)
_SETTING: Final = "gitmemWriters"
_HIDDEN: Final = "it hides the ref from fetches"


class Place(NamedTuple):
    """Where a clone's records are on a remote. `refused` are the reasons against the places before, by their refs."""

    remote: str
    place: str
    ref: str
    refused: dict[str, str]


def read_place(location: RepositoryLocation, remote: str) -> str:
    """Return the place that was chosen for a remote, by default a ref outside the branches. Raises UsageError."""
    place = read_remote_setting(location, remote, _SETTING) or REF
    if place not in PREFIXES:
        name = f"remote.{remote}.{_SETTING}"
        raise UsageError(f"`{name}` is `{place}`, it must be one of {', '.join(PLACES)}", hint=f"git config {name} ref")
    return place


def is_prepared(location: RepositoryLocation, remote: str) -> bool:
    """Return whether somebody decided to share with a remote."""
    return read_remote_setting(location, remote, _SETTING) != ""


def choose_place(
    workspace: Workspace, remote: str = "", place: str = "", *, on_wait: Callable[[], None] = lambda: None
) -> Place:
    """Find the first place that a remote accepts, or check a given one, and remember it in git's configuration.

    `on_wait` is called before waiting for an exchange.

    Raises: UsageError, GitFailed if the remote accepts none.
    """
    location = workspace.location
    name = find_remote(location, remote)
    refused: dict[str, str] = {}
    with exchange_lock(location, on_wait), RecordStore(location) as store:
        with store.locked():
            require_whole_memory(store)
            writer = own_writer(location)
        for candidate in [place] if place else PLACES:
            ref = PREFIXES[candidate] + writer
            reason = _try_ref(location, store, name, ref)
            if not reason:
                write_remote_setting(location, name, _SETTING, candidate)
                if candidate == BRANCH:
                    # These branches are data of gitmem: the user's fetches should not list them as work of others.
                    exclude_from_fetches(location, name, f"{BRANCHES}*")
                return Place(name, candidate, ref, refused)
            refused[ref] = reason
    reasons = "; ".join(f"`{ref}`: {reason}" for ref, reason in refused.items())
    raise GitFailed(f"`{name}` takes no records: {reasons}", hint="try another remote: gitmem share init NAME")


def _try_ref(location: RepositoryLocation, store: RecordStore, remote: str, ref: str) -> str:
    """Push a ref without records, or its present tree again; return why the remote does not take it, or ""."""
    url = find_push_url(location, remote)
    author = read_author(location)
    # The ref may be there from a time before the host refused it, so it is pushed then as well.
    if ref in list_remote_refs(location, remote, [ref], url):
        fetched = fetched_reference(remote, ref)
        fetch_refs(location, remote, {ref: fetched}, url)
        there = read_reference(location, fetched)
        assert there is not None, "it was fetched"
        # Unsigned: nobody has looked at what is there. The next push does, and signs.
        with store.locked():
            commit = store_again(location, store, there, Author(author.name))
    else:
        state = WriterState({}, author.name)
        with store.locked():
            commit = store_writer(location, store, state, None, author) or ""
    for result in push_refs(location, remote, [RefUpdate(ref, commit)]):
        if not result.accepted:
            # It was not listed. A host that has it nevertheless hides it.
            return _HIDDEN if result.moved else result.reason
    # A host may accept a ref that it does not show to anybody.
    return "" if ref in list_remote_refs(location, remote, [ref], url) else _HIDDEN


def find_unshared(workspace: Workspace) -> list[str]:
    """Return the paths of this clone's records that the next push would share for the first time."""
    with RecordStore(workspace.location) as store:
        return _unshared_paths(workspace, store, store.tip())


def _unshared_paths(workspace: Workspace, store: RecordStore, tip: Tip) -> list[str]:
    location = workspace.location
    state = read_shared(location, store)
    # Records of others, and variants of them, are part of the union, and their visibility is not this person's.
    placed = place_records(state.held, state.purged, store.read_blob, location.object_format)
    pushed = _pushed_versions(location, store)

    def is_unshared(path: bytes) -> bool:
        # Pulling alone already adds this clone's records to its union, and so does a push that was refused.
        record = placed.get(path)
        if record is None:
            return True
        own, sent = state.own.get(record.path, {}), pushed.get(record.path, {})
        return record.content in contents(own) and record.content not in contents(sent)

    return [path.decode() for path in read_memory(store, tip, placed).shared if is_unshared(path)]


def _pushed_versions(location: RepositoryLocation, store: RecordStore) -> State:
    """Return the versions that remotes had of this clone when they were last looked at."""
    writer, _ = read_writer_id(location)
    states = []
    for name, commit in list_fetched(location).items():
        if writer and name.endswith(f"/{writer}"):
            # Whatever cannot be read counts as not pushed: asking once too often does no harm.
            with suppress(DamagedFile, NewerFormat):
                states.append(read_writer(store, commit, writer).versions)
    return merge_states(states)


def keep_private(workspace: Workspace, paths: Sequence[str]) -> list[str]:
    """Give records the visibility `me`, in one commit, and return notices. Raises GitFailed, StorageFailed."""

    def edit(tip: Tip) -> Changes:
        # A record that was deleted or replaced meanwhile keeps what its writer gave it.
        records = {path: store.find_record(tip, path.encode()) for path in paths}
        return {path.encode(): format_record(_private(record)) for path, record in records.items() if record}

    with RecordStore(workspace.location) as store:
        store.change(f"private: {len(paths)}", edit)
    return index_records(workspace)[0]


def _private(record: Record) -> Record:
    return record._replace(fields={**record.fields, VISIBILITY: "me"})
