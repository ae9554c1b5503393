"""Take the changes of this clone into what it shares, and what others share into its memory. Uses no network.

Records are shared if their visibility is `team` or `org`. Others stay.
"""

from collections.abc import Collection, Mapping

from gitmem.errors import DamagedFile, GitFailed, GitmemError, NewerFormat, UnknownRevision
from gitmem.git.locate import RepositoryLocation
from gitmem.git.object_removal import find_reachable
from gitmem.memory.foreign_records import find_foreign_faults
from gitmem.memory.purgeable_objects import MAX_BYTES, find_present
from gitmem.memory.record_paths import CONVERSATION_PREFIX, REFERENCE, is_record_path, is_turn_path
from gitmem.memory.record_store import Changes, RecordStore, StoredBlob, Tip
from gitmem.memory.shared_state import (
    SharedState,
    drop_fetched,
    list_fetched,
    list_writers_here,
    read_shared,
    read_writer,
    write_shared,
)
from gitmem.memory.union import VARIANT_OF, Memory, Placed, own_changes, place_records
from gitmem.memory.versions import State, Version, contents, merge_states, version_id
from gitmem.memory.visibility import travels
from gitmem.memory.writer_identity import new_writer_id, read_writer_id
from gitmem.memory.writer_refs import split_writer_ref
from gitmem.memory.writer_tree import Purges, WriterState, add_purge, damaged_writer
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record, is_record, parse_record
from gitmem.records.signed_records import MARK, describe_signatures, is_refused, without_new
from gitmem.records.united_records import unite
from gitmem.types import TURN


class Merged(NamedTuple):
    """Numbers of records that were added, changed and deleted in the memory, and the ids of those in conflict."""

    added: int = 0
    changed: int = 0
    deleted: int = 0
    conflicts: tuple[str, ...] = ()


class FetchedStates(NamedTuple):
    """States of writers by commit, and the versions of a former memory that this one is known to have had.

    `faulty` are the commits of which something was left out, `damaged` those that are no state of a writer; `notices`
    say what. `former` is the commit of the former memory, `private` the number of its conversations' turns and private
    documents that this memory lacks. `signatures` describe those of commits.
    """

    states: Mapping[str, WriterState]
    ancestral: State
    faulty: frozenset[str]
    damaged: frozenset[str]
    notices: list[str]
    former: str | None = None
    private: int = 0
    signatures: Mapping[str, str] = {}

    @property
    def purges(self) -> Purges:
        """Return the purges of all writers."""
        return {name: blobs for state in self.states.values() for name, blobs in state.purges.items()}


def require_whole_memory(store: RecordStore) -> None:
    """Refuse to share while the memory lacks records: they would be deleted for everybody. Raises GitmemError."""
    lost = store.find_lost_tip()
    if lost is not None:
        raise GitmemError(f"refusing to share: {lost.problem}", hint=f"first run: {lost.remedy}")


def own_writer(location: RepositoryLocation) -> str:
    """Return this clone's id as a writer, a new one for the first exchange and for a copy of a clone."""
    writer, in_place = read_writer_id(location)
    return writer if writer is not None and in_place else new_writer_id(location)


def read_memory(store: RecordStore, tip: Tip, known: Mapping[bytes, Placed]) -> Memory:
    """Return the records of a memory, and those that may leave the clone. `known` records are not read for that."""
    records = {entry.path: entry.oid for entry in store.entries(tip)}
    shared = {}
    private: dict[bytes, bool] = {}
    for path, oid in records.items():
        # A record of the union is shared by definition; only others must be read for their visibility.
        placed = known.get(path)
        travelling = placed is not None and placed.oid == oid
        folder = path.rpartition(b"/")[0] if is_turn_path(path) else path
        if not travelling and is_record_path(path) and not private.get(folder, False):
            travelling = travels(store.read_record(oid, path.decode()))
        # Entries are sorted. The first turn decides for a private conversation, so that its turns are not all read.
        private.setdefault(folder, not travelling)
        if travelling:
            shared[path] = oid
    return Memory(records, shared)


def add_own_changes(location: RepositoryLocation, store: RecordStore, tip: Tip, state: SharedState) -> SharedState:
    """Return the state with all changes of the memory that it lacks, as versions of this clone."""
    placed = place_records(state.held, state.purged, store.read_blob, location.object_format)
    memory = read_memory(store, tip, placed)
    changes = own_changes(state.held, placed, state.own, state.purged, memory)
    if not changes:
        return state
    return state._replace(held=merge_states([state.held, changes]), own=merge_states([state.own, changes]))


def publish_own(location: RepositoryLocation, store: RecordStore) -> SharedState:
    """Write this clone's changes to the shared state, durably. The lock must be held. Raises GitmemError."""
    require_whole_memory(store)
    state = add_own_changes(location, store, store.tip(), read_shared(location, store))
    write_shared(location, store, state)
    return state


def read_states(
    location: RepositoryLocation,
    store: RecordStore,
    commits: Mapping[str, str],
    former: str | None,
    policy: str = MARK,
) -> FetchedStates:
    """Read what writers share, by their refs and commits, and the memory that an earlier gitmem pushed as a whole.

    Commits that the memory has completely are skipped, unless their signature can be checked now. What is damaged,
    forged, or refused by the `policy` for unsigned records is left out.
    """
    known = read_shared(location, store)
    all_commits = {*commits.values(), *([former] if former else ())}
    signatures = describe_signatures(location, store, all_commits, known.signatures, policy)
    states: dict[str, WriterState] = {}
    faulty: set[str] = set()
    damaged: set[str] = set()
    notices = []
    for name, commit in sorted(commits.items()):
        writer = split_writer_ref(name)[1]
        if commit in known.merged and signatures.get(commit, "") == known.signatures.get(commit, ""):
            continue
        try:
            state = read_writer(store, commit, writer)
            if is_refused(signatures.get(commit, ""), policy):
                complete, state = state, without_new(state, known)
                if state != complete:
                    faulty.add(commit)
                    notices.append(f"records of `{writer}` were refused: {signatures[commit]}")
            purged = known.with_purges(state.purges).purged
            faults = find_foreign_faults(store, known.held, state, purged)
        except (DamagedFile, NewerFormat) as error:
            notices.append(f"{error.message}; they were left out")
            damaged |= {commit} if isinstance(error, DamagedFile) else set()
            continue
        if faults:
            faulty.add(commit)
            notices += [_fault_notice(path, writer) for path in sorted(faults)]
        states[commit] = state._replace(versions={k: v for k, v in state.versions.items() if k not in faults})
    fetched = FetchedStates(states, {}, frozenset(faulty), frozenset(damaged), notices, signatures=signatures)
    if former and is_refused(signatures.get(former, ""), policy):
        notices.append(f"the records of `{REFERENCE}` were refused: {signatures[former]}")
        return fetched
    return _add_former(location, store, fetched, former, known) if former else fetched


def _add_former(
    location: RepositoryLocation, store: RecordStore, fetched: FetchedStates, commit: str, known: SharedState
) -> FetchedStates:
    """Add a memory that was pushed as a whole as the state of one more writer, the same in every clone.

    What this memory had at any time, and lacks now, was deleted or replaced here. It counts as seen, so that it does
    not return. So does what this clone purged before it ever shared.
    """
    try:
        theirs = _read_former(store, commit)
        found = {path: Version(oid) for path, oid in theirs.shared.items()}
        state = WriterState({path: {version_id(path, each): each} for path, each in found.items()})
        faults = find_foreign_faults(store, known.held, state, known.with_purges(fetched.purges).purged)
    except (DamagedFile, NewerFormat) as error:
        return fetched._replace(notices=[*fetched.notices, f"{error.message}; they were left out"])
    # The whole history and not a merge base: a purge or an earlier forced fetch may have cut the common history off.
    tip = store.tip()
    had = {*known.removed, *(find_reachable(location, [tip.commit]) if tip.commit else ())}
    private = [path for path in theirs.records if theirs.is_private(path) and store.find(tip, path) is None]
    versions = {path: by_id for path, by_id in state.versions.items() if path not in faults}
    return fetched._replace(
        states={**fetched.states, commit: WriterState(versions)},
        ancestral={path: by_id for path, by_id in versions.items() if theirs.shared[path] in had},
        faulty=fetched.faulty | ({commit} if faults else set()),
        notices=[*fetched.notices, *(_fault_notice(path, REFERENCE) for path in sorted(faults))],
        former=commit,
        private=len(private),
    )


def _read_former(store: RecordStore, commit: str) -> Memory:
    """Return the records of a memory that was pushed as a whole. Raises DamagedFile, NewerFormat."""
    try:
        records = {entry.path: entry.oid for entry in store.entries(store.at(commit))}
    except (DamagedFile, UnknownRevision, GitFailed) as problem:
        raise damaged_writer(REFERENCE) from problem
    return Memory(
        records, {path: oid for path, oid in records.items() if is_record_path(path) and _is_open(store, path, oid)}
    )


def _is_open(store: RecordStore, path: bytes, oid: str) -> bool:
    """Return whether a record is shared, or damaged: then it is left out like one of a writer. Raises NewerFormat."""
    try:
        return travels(store.read_record(oid, path.decode()))
    except DamagedFile:
        return True


def _fault_notice(path: bytes, writer: str) -> str:
    return f"`{path.decode()}` of `{writer}` is damaged or forged; it was left out"


def merge_fetched(
    location: RepositoryLocation, store: RecordStore, fetched: FetchedStates, subject: str, *, write: bool
) -> Merged:
    """Merge the states of writers into the memory. The lock must be held. Raises GitmemError.

    Without `write` the changes are only counted.
    """
    result = Merged()
    before = after = SharedState()

    def edit(tip: Tip) -> Changes:
        nonlocal result, before, after
        state = read_shared(location, store)
        # The own changes come first. Otherwise what others changed meanwhile would look like changes of this clone.
        before = state._replace(held=merge_states([state.held, fetched.ancestral]))
        before = add_own_changes(location, store, tip, before)
        after, changes, result = _merge(location, store, tip, before, fetched)
        return changes

    if not write:
        edit(store.tip())
        return result
    # Memory and shared state are two refs. After a kill between them, what others wrote must not look like changes of
    # this clone: it would be brought to other remotes, and live again after a deletion.
    store.change_locked(subject, edit, prepare=lambda commit: write_shared(location, store, before, (commit, after)))
    write_shared(location, store, after)
    return result


def _merge(
    location: RepositoryLocation, store: RecordStore, tip: Tip, before: SharedState, fetched: FetchedStates
) -> tuple[SharedState, Changes, Merged]:
    """Return the state after a merge, and the changes that make the shared records of the memory those of the union."""
    known = place_records(before.held, before.purged, store.read_blob, location.object_format)
    memory = read_memory(store, tip, known)
    signatures = {**before.signatures, **fetched.signatures}
    held, sharers, placed, hidden = unite(
        before, fetched.states, signatures, memory, store.read_blob, location.object_format
    )
    # A commit that is taken over as a whole need not be read again. The others are, until nothing hides their records.
    complete = {
        commit
        for commit, state in fetched.states.items()
        if commit not in fetched.faulty and hidden.isdisjoint(state.versions)
    }
    present = {*list_fetched(location).values(), *list_writers_here(location).values()}
    origins = {text.partition("\n")[2] for text in sharers.values()}
    after = before.with_purges(fetched.purges)
    after = after._replace(
        held=held,
        sharers=sharers,
        signatures={commit: text for commit, text in signatures.items() if commit in origins or commit in present},
        merged=(before.merged | complete) & present,
        clean=after.clean & present,
        former=after.former | {commit for commit in complete if commit == fetched.former},
    )
    return after, *_memory_changes(memory, placed)


def _memory_changes(memory: Memory, placed: Mapping[bytes, Placed]) -> tuple[Changes, Merged]:
    """Return the changes of the memory. The union lacks private records, and so never deletes them."""
    changes: dict[bytes, bytes | StoredBlob | None] = {path: None for path in memory.shared if path not in placed}
    deleted = len(changes)
    added = 0
    for path, (_, content, oid, data) in placed.items():
        if memory.records.get(path) == oid or memory.is_private(path):
            continue
        added += path not in memory.records
        changes[path] = StoredBlob(content) if data is None else data
    variants = [parse_record(each.data, path.decode()) for path, each in placed.items() if each.data is not None]
    names = tuple(sorted({name for variant in variants for name in _both_names(variant)}))
    return changes, Merged(added, len(changes) - deleted - added, deleted, names)


def _both_names(variant: Record) -> tuple[str, str]:
    """Return the ids of a variant and of its record, as users name them."""
    prefix = CONVERSATION_PREFIX if variant.kind == TURN else ""
    return prefix + variant.id, f"{prefix}{variant.fields[VARIANT_OF]}"


def forget_revisions(
    location: RepositoryLocation, store: RecordStore, former: Collection[str], *, announce: bool
) -> bool:
    """Take former revisions from what this clone has shared or fetched, for a purge; return whether others must follow.

    With `announce` the ids of those among the objects `former` that may have left the clone become a purge, which all
    other clones honour. The lock must be held.
    """
    state = read_shared(location, store)
    shares = bool(state.own or state.held)
    if shares:
        # First the deletions: a record that was deleted since is a superseded version by then.
        state = publish_own(location, store)
    if announce:
        # Only what nobody needs is purged: neither the present content of a record nor one side of a conflict.
        live = {content for versions in state.held.values() for content in contents(versions)}
        live |= {entry.oid for entry in store.entries(store.tip())}
        superseded = {content for versions in state.own.values() for content in contents(versions)}
        purged = {*_travelling(location, store, set(former) - live), *superseded} - live - state.purged
        # A clone that shares nothing decides nothing for others: it may have records of theirs from an earlier time.
        state = (
            state.with_purges(add_purge(state.purges, purged))
            if shares
            else state._replace(removed=state.removed | purged)
        )
    announced = shares and state.purges.keys() != read_shared(location, store).purges.keys()
    write_shared(location, store, state)
    drop_fetched(location)
    return announced


def _travelling(location: RepositoryLocation, store: RecordStore, oids: Collection[str]) -> set[str]:
    """Return which of some objects are records that may have left the clone."""
    found = set()
    for item in find_present(location, oids):
        if item.kind != "blob":
            continue
        try:
            record = parse_record(store.read_blob(item.oid), item.oid)
        except (DamagedFile, NewerFormat):
            continue
        if travels(record):
            found.add(item.oid)
    return found


def find_unclean(
    location: RepositoryLocation, store: RecordStore, commits: Collection[str], purged: frozenset[str]
) -> set[str]:
    """Return the commits whose history has a purged record."""
    reached = {commit: purged.intersection(find_reachable(location, [commit])) for commit in commits}
    records = _find_records(location, store, frozenset[str]().union(*reached.values()))
    return {commit for commit, found in reached.items() if not found.isdisjoint(records)}


def find_purged_here(location: RepositoryLocation, store: RecordStore, state: SharedState) -> set[str]:
    """Return the purged records that this repository still has, except those that could not be removed before."""
    return _find_records(location, store, state.purged - state.left)


def _find_records(location: RepositoryLocation, store: RecordStore, oids: Collection[str]) -> set[str]:
    """Return which of some objects exist and are records: somebody may list any other one in a purge."""
    blobs = (item.oid for item in find_present(location, oids) if item.kind == "blob" and item.size <= MAX_BYTES)
    return {oid for oid in blobs if is_record(store.find_object(oid) or b"")}


def forget_missing(location: RepositoryLocation, store: RecordStore) -> None:
    """Forget the shared records that the memory lacks, or has otherwise, so that they are not deleted for others.

    Those that it has stay known. Otherwise those of others would look like records of this clone, be brought to other
    remotes, and live again after a deletion. The lock must be held.
    """
    state = read_shared(location, store)
    placed = place_records(state.held, state.purged, store.read_blob, location.object_format)
    present = {entry.path: entry.oid for entry in store.entries(store.tip())}
    lost = {each.path for path, each in placed.items() if present.get(path) != each.oid}
    kept = state._replace(
        held={path: by_id for path, by_id in state.held.items() if path not in lost},
        own={path: by_id for path, by_id in state.own.items() if path not in lost},
        sharers={
            path: text for path, text in state.sharers.items() if path in placed and placed[path].path not in lost
        },
        # All are read again, for they have what was lost.
        merged=frozenset(),
        former=frozenset(),
    )
    write_shared(location, store, kept)
