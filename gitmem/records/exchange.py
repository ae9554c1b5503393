"""Push this clone's shared records to a remote, and pull those of others.

Each commit that is pushed continues the one that this very remote has, with the records that this clone may share. So
no private record, nothing withdrawn and nothing of another remote is ever part of a pushed history.
"""

from collections.abc import Callable, Mapping
from typing import Final

from gitmem.errors import GitmemError
from gitmem.freshness.record_refresh import index_records
from gitmem.git.commit_signing import Author
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_removal import find_reachable
from gitmem.git.references import delete_reference
from gitmem.git.remotes import LOCK_HINT
from gitmem.memory.purgeable_objects import extend_purge
from gitmem.memory.record_paths import REFERENCE
from gitmem.memory.record_store import RecordStore
from gitmem.memory.shared_state import (
    SharedState,
    list_fetched,
    list_writers_here,
    read_shared,
    write_shared,
)
from gitmem.memory.writer_identity import new_writer_id
from gitmem.memory.writer_refs import (
    PREFIXES,
    fetched_reference,
    former_reference,
    is_writer_ref,
    split_writer_ref,
)
from gitmem.memory.writer_tree import damaged_writer
from gitmem.named_tuple import NamedTuple
from gitmem.records.exchange_lock import exchange_lock
from gitmem.records.publication import Approve, Fetched, Publication, Published
from gitmem.records.purge import purge_memory
from gitmem.records.sharing import (
    FetchedStates,
    Merged,
    find_purged_here,
    find_unclean,
    merge_fetched,
    own_writer,
    read_states,
    require_whole_memory,
)
from gitmem.records.signed_records import is_foreign, read_author
from gitmem.records.transport import GitRemote, Transport
from gitmem.workspace import Workspace

_TRIES: Final = 5
"""Times that a push is repeated because a ref has moved. Only a copy of this clone, or a purge, moves the own one."""


class Exchange(NamedTuple):
    """What an exchange with a remote did, or would do. `sent` versions of records were pushed.

    `added`, `changed` and `deleted` count records of this clone's memory. `conflicts` are the ids of records that were
    changed concurrently. `purged` says whether a purge was carried out here or on the remote.
    """

    remote: str
    writer: str
    sent: int
    added: int
    changed: int
    deleted: int
    conflicts: tuple[str, ...]
    purged: bool
    notices: list[str]


class Plan(NamedTuple):
    """What to do with which remote. `approve` is asked before the first push to it, with the number of records.

    `on_wait` is called before waiting for another exchange.
    """

    transport: Transport
    pull: bool
    push: bool
    allow_secrets: bool = False
    dry_run: bool = False
    approve: Approve | None = None
    on_wait: Callable[[], None] = lambda: None


def exchange(
    workspace: Workspace,
    remote: str | Transport = "",
    *,
    pull: bool,
    push: bool,
    allow_secrets: bool = False,
    dry_run: bool = False,
    approve: Approve | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> Exchange:
    """Pull the records of others from a remote, push this clone's, or both. A dry run fetches, but changes no record.

    The remote is a name of git's, "" for that of the current branch, or another place that takes refs. `on_wait` is
    called before waiting for another exchange.

    Raises: UsageError, GitFailed, StorageFailed, DamagedFile; GitmemError if the memory lost records or the remote
    refuses the push; the errors of `approve`.
    """
    transport = GitRemote(workspace.location, remote, push=push) if isinstance(remote, str) else remote
    plan = Plan(transport, pull, push, allow_secrets, dry_run, approve, on_wait)
    total: Exchange | None = None
    conflict = ""
    for _ in range(_TRIES):
        step, conflict = _exchange(workspace, plan)
        total = step if total is None else _add(total, step)
        if not conflict:
            notices = [] if dry_run else index_records(workspace)[0]
            return total._replace(notices=[*dict.fromkeys([*total.notices, *notices])])
    raise GitmemError(f"the records of this clone on `{transport.name}` keep changing: {conflict}", hint=LOCK_HINT)


def _add(total: Exchange, step: Exchange) -> Exchange:
    """Return the sum of two steps; the conflicts are those after the second."""
    counts = {name: getattr(total, name) + getattr(step, name) for name in ("sent", "added", "changed", "deleted")}
    return step._replace(purged=total.purged or step.purged, notices=[*total.notices, *step.notices], **counts)


def _exchange(workspace: Workspace, plan: Plan) -> tuple[Exchange, str]:
    """Take one step; return also the ref that has moved meanwhile, if any. Then a further step follows."""
    location = workspace.location
    with exchange_lock(location, plan.on_wait), RecordStore(location) as store:
        with store.locked():
            require_whole_memory(store)
            before = read_shared(location, store)
        # Nobody who stores a record waits for the network. A purge does, so what was fetched stays.
        fetched = _fetch(location, plan.transport, before)
        publication, states, fetched, merged, renamings = _merge_locked(workspace, store, plan, fetched)
        published = Published()
        if plan.push:
            published = publication.push(plan.approve, allow_secrets=plan.allow_secrets, dry_run=plan.dry_run)
        unclean = bool(published.unclean or (plan.pull and not plan.push and publication.find_unclean()))
    purged = published.replaced
    # As long as the remote has purged records, each fetch would bring them back, and each purge costs former revisions.
    if not plan.dry_run and not unclean:
        purged = _purge_here(workspace) or purged
    notices = [*fetched.notices, *states.notices, *renamings, *published.notices]
    if states.private:
        merge = f"gitmem memory merge {former_reference(plan.transport.cache)}"
        notices.append(f"{states.private:,} private records of an earlier memory were not taken over: {merge}")
    if unclean and not plan.push:
        notices.append(f"`{plan.transport.name}` still has purged records: {plan.transport.command}")
    writer = split_writer_ref(publication.ref)[1]
    return Exchange(plan.transport.name, writer, published.sent, *merged, purged, notices), published.conflict


class _Received(NamedTuple):
    """What was fetched and merged, and the notices about the own ref."""

    publication: Publication
    states: FetchedStates
    fetched: Fetched
    merged: Merged
    renamings: list[str]


def _merge_locked(workspace: Workspace, store: RecordStore, plan: Plan, fetched: Fetched) -> _Received:
    """Read what was fetched, and merge it if the plan says so, under the lock of the memory."""
    location = workspace.location
    with store.locked():
        require_whole_memory(store)
        # Others may have pushed into this repository. The remote's commit of a writer is at least as new as a mirror's.
        here = {name: oid for name, oid in list_writers_here(location).items() if name not in fetched.writers}
        policy = workspace.settings.unsigned_records
        states = read_states(location, store, {**here, **fetched.writers}, fetched.former, policy)
        author = read_author(location) if plan.push else Author("")
        ref, renamings = _own_ref(location, store, plan, author, fetched, states)
        if not plan.dry_run:
            fetched = _reject(location, store, plan.transport.cache, ref, fetched, states)
        merged = Merged()
        if plan.pull:
            merged = merge_fetched(location, store, states, f"sync: {plan.transport.name}", write=not plan.dry_run)
        publication = Publication(location, store, plan.transport, ref, author, fetched, states)
    return _Received(publication, states, fetched, merged, renamings)


def _own_ref(
    location: RepositoryLocation,
    store: RecordStore,
    plan: Plan,
    author: Author,
    fetched: Fetched,
    states: FetchedStates,
) -> tuple[str, list[str]]:
    """Return the ref that this clone pushes to, and notices.

    It is a new one if a signature of the user would vouch for what somebody else added to the present one. That one
    stays as it is, so nothing in it is lost.
    """
    prefix = PREFIXES[plan.transport.place()]
    ref = prefix + own_writer(location)
    there = fetched.writers.get(ref)
    if not author.signs or there is None or plan.dry_run:
        return ref, []
    if not is_foreign(location, store, there, states.signatures.get(there, "")):
        return ref, []
    new = prefix + new_writer_id(location)
    return new, [f"`{ref}` has records of others, so it is left unsigned; this clone goes on as `{new}`"]


def _reject(
    location: RepositoryLocation, store: RecordStore, remote: str, own: str, fetched: Fetched, states: FetchedStates
) -> Fetched:
    """Drop damaged commits that have purged records, and do not fetch them again.

    Nobody can clean them, and as long as they are here nothing is purged. The own one is replaced by the push.
    """
    state = read_shared(location, store)
    damaged = {commit for name, commit in fetched.writers.items() if name != own} & states.damaged
    rejected = find_unclean(location, store, damaged, state.with_purges(states.purges).purged)
    if not rejected:
        return fetched
    write_shared(location, store, state._replace(rejected=state.rejected | rejected))
    # Without the list a purge would take the commits for abandoned ones of the user, and keep what they reach.
    extend_purge(location, find_reachable(location, rejected, parents=False))
    for name, commit in fetched.writers.items():
        if commit in rejected:
            delete_reference(location, fetched_reference(remote, name))
    return fetched._replace(writers={name: oid for name, oid in fetched.writers.items() if oid not in rejected})


def _fetch(location: RepositoryLocation, transport: Transport, state: SharedState) -> Fetched:
    """Fetch the commits of all writers that this clone lacks, and a former memory unless it was merged already."""
    listed, remote = transport.list_refs(), transport.cache
    writers = [name for name in listed if is_writer_ref(name)]
    rejected = [name for name in writers if listed[name] in state.rejected]
    targets = {name: fetched_reference(remote, name) for name in writers if name not in rejected}
    if REFERENCE in listed and listed[REFERENCE] not in state.former:
        targets[REFERENCE] = former_reference(remote)
    # Refs that did not move are not asked for: a fetch of nothing costs as much as the list of refs did.
    known = list_fetched(location, remote)
    transport.fetch({name: at for name, at in targets.items() if known.get(at) != listed[name]})
    # A cache of refs that the remote no longer has would keep their objects for ever.
    for name in known.keys() - {*targets.values(), former_reference(remote)}:
        delete_reference(location, name)
    # What was fetched counts: a ref may have moved since it was listed.
    known = list_fetched(location, remote)
    commits: Mapping[str, str] = {name: known[at] for name, at in targets.items() if at in known}
    present = {name: oid for name, oid in commits.items() if name != REFERENCE}
    faults = [damaged_writer(split_writer_ref(name)[1]).message for name in rejected]
    notices = tuple(f"{fault}; they were left out" for fault in faults)
    return Fetched(present, REFERENCE in listed, commits.get(REFERENCE), notices)


def _purge_here(workspace: Workspace) -> bool:
    """Remove purged records from this repository, if it has any; return whether it had.

    Whether it has is looked up in git each time, so an interrupted purge is repeated. Only what could not be removed,
    because something of the user reaches it, is remembered, and that last.
    """
    location = workspace.location
    with RecordStore(location) as store:
        if not find_purged_here(location, store, read_shared(location, store)):
            return False
    purge_memory(workspace, announce=False)
    with RecordStore(location) as store, store.locked():
        state = read_shared(location, store)
        write_shared(location, store, state._replace(left=state.left | find_purged_here(location, store, state)))
    return True
