"""Build and push the commits of one exchange: this clone's, and after a purge those of others without its records.

No ref moves before the remote has accepted a push.
"""

from collections.abc import Callable, Mapping

from gitmem.errors import DamagedFile, GitFailed, NewerFormat
from gitmem.git.commit_signing import GOOD, Author, is_signed, signature_state
from gitmem.git.locate import RepositoryLocation
from gitmem.git.references import read_reference, update_reference
from gitmem.git.remotes import PushedRef, RefUpdate
from gitmem.memory.record_paths import REFERENCE
from gitmem.memory.record_store import RecordStore
from gitmem.memory.shared_state import read_shared, read_writer, store_again, store_writer, write_shared
from gitmem.memory.versions import merge_states
from gitmem.memory.writer_refs import fetched_reference, split_writer_ref
from gitmem.memory.writer_tree import WriterState, purged_blobs
from gitmem.named_tuple import NamedTuple
from gitmem.records.sharing import FetchedStates, add_own_changes, find_unclean, publish_own
from gitmem.records.transport import Transport
from gitmem.secrets.refusal import refuse_secrets

Approve = Callable[[int, str], None]
"""Function that is called before this clone's first push to a remote, with the number of records. It may raise."""


class Fetched(NamedTuple):
    """Commits of a remote by the refs of writers.

    `has_former` says whether an earlier gitmem pushed a memory to it as a whole, `former` is its commit if it is new.
    """

    writers: Mapping[str, str]
    has_former: bool
    former: str | None
    notices: tuple[str, ...] = ()


class Published(NamedTuple):
    """Number of pushed versions, whether commits were replaced, whether the remote still has purged records, notices.

    A ref of the remote that has moved meanwhile is a `conflict`, and git's reason for it: the push must be repeated.
    """

    sent: int = 0
    replaced: bool = False
    unclean: bool = False
    notices: tuple[str, ...] = ()
    conflict: str = ""


class _Change(NamedTuple):
    """New state of this clone's ref, and the new versions by id: path and content."""

    state: WriterState
    versions: Mapping[str, tuple[bytes, str | None]]


class Publication:
    """Push to one remote. The lock of the exchange must be held, but not that of the store: the network is slow."""

    def __init__(
        self,
        location: RepositoryLocation,
        store: RecordStore,
        transport: Transport,
        ref: str,
        author: Author,
        fetched: Fetched,
        states: FetchedStates,
    ) -> None:
        self._location = location
        self._store = store
        self._transport = transport
        self._remote = transport.name
        self.ref = ref
        self._author = author
        self._signatures = states.signatures
        self._fetched = fetched
        self._there = fetched.writers.get(ref)
        self._purges = {**states.purges, **read_shared(location, store).purges}
        self._purged = purged_blobs(self._purges)
        self._announces_purge = False
        self._is_overwritten = False

    def push(self, approve: Approve | None, *, allow_secrets: bool, dry_run: bool) -> Published:
        """Push this clone's records, and remove purged ones from the refs of all writers.

        Raises: UsageError, GitFailed, the errors of `approve`.
        """
        with self._store.locked():
            change = self._own_change(dry_run=dry_run)
            self._announces_purge = self._is_purge_unknown()
            if dry_run:
                return Published(len(change.versions))
            self._check(change, approve, allow_secrets=allow_secrets)
            unclean = self.find_unclean()
            own = self._own_update(change, unclean)
            updates = [*([own] if own else []), *self._cleaned_updates(unclean - {self.ref})]
        results = {each.name: each for each in self._push(updates)}
        moved = next((each for each in results.values() if each.moved), None)
        if moved:
            return Published(conflict=f"`{moved.name}`: {moved.reason}")
        failure = results.get(self.ref)
        if own and failure and not failure.accepted:
            if not own.expected or self._is_overwritten:
                raise self._refused(failure)
            # The host lets nobody replace commits. New records must not depend on that.
            self._continue(change)
        with self._store.locked():
            return self._finish(change, unclean, results)

    def _check(self, change: _Change, approve: Approve | None, *, allow_secrets: bool) -> None:
        """Refuse secrets, and let a person approve the first push. Raises UsageError, the errors of `approve`."""
        # Contents are checked, deletions have none. What the remote has already was checked when it was pushed.
        contents = [(path, content) for path, content in change.versions.values() if content is not None]
        if not allow_secrets:
            self._refuse_secrets(contents)
        if approve and self._there is None and contents:
            approve(len(contents), self._remote)

    def find_unclean(self) -> set[str]:
        """Return the refs of writers on the remote that have purged records in their history."""
        if not self._purged:
            return set()
        # Walking a history is the expensive part of a purge, and a commit that is clean of a purge stays so.
        clean = read_shared(self._location, self._store).clean if self._knows_all_purges() else frozenset()
        unclean = find_unclean(self._location, self._store, set(self._fetched.writers.values()) - clean, self._purged)
        return {writer for writer, commit in self._fetched.writers.items() if commit in unclean}

    def _knows_all_purges(self) -> bool:
        """Return whether the commits known to be clean are so for all purges."""
        return read_shared(self._location, self._store).purges.keys() == self._purges.keys()

    def _own_change(self, *, dry_run: bool) -> _Change:
        """Return the state to push: what this remote has of this clone, with the clone's changes."""
        if dry_run:
            state = read_shared(self._location, self._store)
            state = add_own_changes(self._location, self._store, self._store.tip(), state)
        else:
            state = publish_own(self._location, self._store)
        theirs = self._read_own()
        # A copy of the whole machine writes to the same ref, so what is there may have versions of its own.
        # Own versions that somebody has replaced or deleted since, perhaps on another remote only, are not new here.
        current = {
            path: {name: version for name, version in by_id.items() if name in state.held.get(path, {})}
            for path, by_id in state.own.items()
        }
        versions = merge_states([theirs.versions, {path: by_id for path, by_id in current.items() if by_id}])
        new = {
            name: (path, None if version.content in self._purged else version.content)
            for path, by_id in versions.items()
            for name, version in by_id.items()
            if name not in theirs.versions.get(path, {})
        }
        own = WriterState(versions, self._author.name, {**theirs.purges, **self._purges})
        return _Change(own, new)

    def _read_own(self) -> WriterState:
        """Return what this remote has of this clone: nothing if somebody overwrote it. Raises NewerFormat."""
        if self._there is None:
            return WriterState({})
        try:
            return read_writer(self._store, self._there, split_writer_ref(self.ref)[1])
        except DamagedFile:
            self._is_overwritten = True
            return WriterState({})

    def _refuse_secrets(self, contents: list[tuple[bytes, str]]) -> None:
        for path, content in contents:
            record = self._store.read_record(content, path.decode())
            refuse_secrets(record.text, f"{record.kind} {record.id}", record.fields, shared=True)

    def _own_update(self, change: _Change, unclean: set[str]) -> RefUpdate | None:
        """Return the push of this clone's own ref; None if there is nothing new."""
        if self._there is None and not change.versions and not self._announces_purge:
            return None  # readers do not appear as writers
        # A commit without parents leaves the purged records behind. The lease keeps what a copy pushed meanwhile.
        cleaned = self._there if self.ref in unclean or self._is_overwritten else None
        parent = None if cleaned else self._there
        commit = store_writer(self._location, self._store, change.state, parent, self._author)
        if commit is None and parent and self._author.signs and not is_signed(self._store.find_object(parent) or b""):
            # Who begins to sign vouches for the earlier records as well.
            commit = store_again(self._location, self._store, parent, self._author)
        return RefUpdate(self.ref, commit, cleaned or "") if commit else None

    def _is_purge_unknown(self) -> bool:
        """Return whether this clone knows of a purge that no writer on the remote does."""
        unknown = set(self._purges)
        for writer, commit in self._fetched.writers.items():
            state = self._read(writer, commit) if unknown else None
            unknown -= state.purges.keys() if state else set()
        return bool(unknown)

    def _read(self, writer: str, commit: str) -> WriterState | None:
        try:
            return read_writer(self._store, commit, split_writer_ref(writer)[1])
        except (DamagedFile, NewerFormat):
            return None

    def _cleaned_updates(self, writers: set[str]) -> list[RefUpdate]:
        """Return pushes that take purged records out of the refs of other writers.

        Each is built from what the remote has, whether or not it was merged here: nothing else changes.
        """
        updates = []
        for writer in sorted(writers):
            commit = self._fetched.writers[writer]
            # The new commit loses the writer's signature. That of this clone replaces it, but only a good one.
            is_good = signature_state(self._signatures.get(commit, "")) == GOOD
            author = self._author if is_good else Author(self._author.name)
            state = self._read(writer, commit)
            if state is not None:
                cleaned = state._replace(purges={**state.purges, **self._purges})
                new = store_writer(self._location, self._store, cleaned, None, author)
                assert new is not None, "a commit without parents is always new"
                updates.append(RefUpdate(writer, new, commit))
        return updates

    def _push(self, updates: list[RefUpdate]) -> list[PushedRef]:
        """Push refs, and remember what the remote has accepted: the next fetch need not ask for it."""
        results = self._transport.push(updates) if updates else []
        accepted = {each.name for each in results if each.accepted}
        for update in updates:
            if update.name in accepted:
                at = fetched_reference(self._transport.cache, update.name)
                before = read_reference(self._location, at)
                update_reference(self._location, at, update.commit, before, reflog=False)
        return results

    def _continue(self, change: _Change) -> None:
        """Push this clone's state as a fast-forward, although the history before has purged records."""
        with self._store.locked():
            commit = store_writer(self._location, self._store, change.state, self._there, self._author)
        if commit:
            for each in self._push([RefUpdate(self.ref, commit)]):
                if not each.accepted:
                    raise self._refused(each)

    def _finish(self, change: _Change, unclean: set[str], results: Mapping[str, PushedRef]) -> Published:
        """Return the result, and remember which commits are clean."""
        failed = {writer for writer in unclean if not _is_accepted(results.get(writer))}
        if self._purged and self._knows_all_purges():
            state = read_shared(self._location, self._store)
            clean = {oid for writer, oid in self._fetched.writers.items() if writer not in unclean}
            write_shared(self._location, self._store, state._replace(clean=state.clean | clean))
        notices = [self._unreached(writer, results.get(writer)) for writer in sorted(failed)]
        if self._announces_purge and self._fetched.has_former:
            # It belongs to nobody here: only people know whether somebody still uses the earlier version.
            notices.append(
                f"not purged on `{self._remote}`: `{REFERENCE}`; remove it: git push {self._remote} :{REFERENCE}"
            )
        if unclean - failed:
            notices.append(f"`{self._remote}` keeps unreachable objects until it collects garbage")
        return Published(len(change.versions), bool(unclean - failed), bool(failed), tuple(notices))

    def _unreached(self, writer: str, result: PushedRef | None) -> str:
        reason = result.reason if result else "damaged or written by a newer gitmem"
        return f"not purged on `{self._remote}`: `{writer}` ({reason})"

    def _refused(self, failure: PushedRef) -> GitFailed:
        return GitFailed(
            f"`{self._remote}` refuses the ref `{failure.name}`: {failure.reason}",
            hint=self._transport.remedy,
        )


def _is_accepted(result: PushedRef | None) -> bool:
    return result is not None and result.accepted
