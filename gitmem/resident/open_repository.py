"""One repository held open by the server: its trees stay open between calls and are reopened after any change.

Checking that a tree is still current must be cheap, because it is done at every call. Changes of the working tree are
reported by `watching.working_tree`, all others show in the signature of a few files (`watching.state_signature`). If
the working tree cannot be watched, git is asked at every call, but only once for calls that came before it was asked.

States of the tree in a slot:

         first call            success            any change
    absent --------> opening ----------> open -----------------> stale
      ^                |  ^               |                        |
      |     an error,  |  |               |        next call:      |
      |     no index   |  +---------------|-- close, open again ---+
      +----------------+                  |
      |                                   | slot evicted, index damaged, repository closed
      +---------------------------------- closed

    opening  The call that opens the tree holds the slot's lock, the others wait for it. Without an index the call
             starts or joins the FirstIndex and waits for that; see `_get_tree`.
    stale    The signature or the working tree has changed, a call found unexpected content in a file, or blobs were
             missing from the index. Nothing happens then; the next call notices it.
    closed   Not usable for new calls. A call that already uses the tree finishes with it and closes its own reader.

Locks, in the order in which they are taken. The last four are leaves: a thread that holds one takes no other.

    ToolHandlers._lock        table of open repositories
    _TreeSlot.lock            tree of one slot: held while it is checked, opened or closed, so that only one call opens
                              it; not held while calls use the tree
    OpenRepository._lock      table of slots, which FirstIndex runs, and how many calls do
    WorkingTreeWatcher._lock  observer of the working tree
    StateWatcher._lock        signatures of all repositories
    SharedTree._lock         idle readers of one tree

`OpenRepository.workspace` and `_configuration` have no lock: each is replaced as a whole, and a call that reads the
previous one finds its tree stale and reopens it.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from gitmem.answering.answer import rebuild_damaged
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.embedding.encoder import Encoder
from gitmem.errors import DamagedFile, GitmemError, NoIndex, OtherModel
from gitmem.freshness.tree_selection import WORKING_TREE, TreeReader, TreeSelection
from gitmem.git.git_config import configuration_files
from gitmem.resident.call import Call
from gitmem.resident.first_index import FirstIndex
from gitmem.resident.open_tree import OpenTree, SharedTree
from gitmem.resident.started_reading import StartedReading, start_reading
from gitmem.resident.watching.state_signature import StateSignature, read_signature
from gitmem.resident.watching.state_watcher import StateWatcher
from gitmem.resident.watching.working_tree import WorkingTreeWatcher
from gitmem.store.manifest import find_manifest
from gitmem.workspace import Workspace, open_workspace

MAX_TREES: Final = 4
"""Trees held open: the working tree and the revisions used last."""

FIRST_INDEX_SECONDS: Final = 20.0
"""Longest wait of a call for the first index: clients give up after 30 or 60 seconds."""

Result = TypeVar("Result")

_SlotName = tuple[TreeSelection, tuple[str, ...]]
"""Selection of a tree, and the kinds that are searched in it."""


class _TreeSlot:
    """Slot of one tree. `lock` guards the other attributes; see the module."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tree: SharedTree | None = None
        self.signature: StateSignature = ()
        """State that the open tree was read from."""
        self.checked = -math.inf
        """Time by `time.monotonic` at which the open tree was current: before its last check, or its reading, began."""

    def close(self) -> None:
        """Close the tree, if one is open. The caller holds the lock."""
        tree, self.tree = self.tree, None
        if tree is not None:
            tree.close()


class OpenRepository:
    """Open trees of one repository: its working tree and revisions."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        encoder: Encoder,
        states: StateWatcher,
        started: StartedReading | None = None,
    ) -> None:
        self._states = states
        self.workspace = open_workspace(folder, environment) if started is None else started.workspace
        self._started = started
        """Reading of the working tree that began before this was loaded, for the call that opens it first."""
        self.folder = folder
        self._environment = environment
        self._encoder = encoder
        self._configuration: list[str] = []
        self._read_from: StateSignature = ()
        """State that `workspace` was read from."""
        self._watcher = WorkingTreeWatcher(self.workspace, on_start=self._check_open_tree)
        self._lock = threading.Lock()
        """Guards `_started` and the three attributes below."""
        self._calls = 0
        """Number of running calls that use the working tree."""
        self._slots: OrderedDict[_SlotName, _TreeSlot] = OrderedDict()
        self._first_index: FirstIndex | None = None

    def close(self, seconds: float) -> None:
        """Stop the background work and close all trees; wait at most `seconds` for each of them."""
        self._watcher.close()
        self._states.forget(self)
        if self._started is not None:
            self._started.reader.close()
        if self._first_index is not None:
            self._first_index.cancel()
            self._first_index.finished.wait(seconds)
        for slot in self._slots.values():
            if slot.lock.acquire(timeout=seconds):
                slot.close()
                slot.lock.release()

    def reopen(self) -> Workspace:
        """Read the state and the settings of the repository again and return them."""
        self.workspace = open_workspace(self.folder, self._environment)
        return self.workspace

    def current_workspace(self) -> Workspace:
        """Return the present state and settings; read them again only if a file that decides them has changed."""
        if not self._configuration:
            self._configuration = self._find_configuration(self.workspace)
        signature = self._states.read(self, self.workspace, self._configuration)
        if signature == self._read_from:
            return self.workspace
        workspace = self.reopen()
        self._configuration = self._find_configuration(workspace)
        # Of before the reading: a change meanwhile makes the next call read again.
        self._read_from = signature
        return workspace

    def _find_configuration(self, workspace: Workspace) -> list[str]:
        return list(map(str, configuration_files(workspace.location, self._environment)))

    @property
    def is_building(self) -> bool:
        """Whether the first index is being built."""
        return self._first_index is not None

    def with_tree(
        self, selection: TreeSelection, kinds: tuple[str, ...], call: Call, action: Callable[[OpenTree], Result]
    ) -> Result:
        """Call a function with the selected tree in its present state; `kinds` are those it will search.

        A damaged index is repaired once, with a note.

        Raises: CallCancelled, NoIndex, UnknownRevision, and any error of the function.
        """
        if selection.is_working_tree:
            kinds = ()  # one slot for the working tree, with all kinds
        slot = self._get_slot((selection, kinds))
        with self._counted(selection):
            try:
                return self._with_slot(slot, selection, kinds, call, action)
            except DamagedFile as problem:
                call.notes.append(f"{problem.message}; rebuilt")
                with slot.lock:
                    slot.close()
                    self._repair(selection)
            return self._with_slot(slot, selection, kinds, call, action)

    @contextmanager
    def _counted(self, selection: TreeSelection) -> Iterator[None]:
        """Count a call while it runs. Watching starts after the last one: adding the watches would slow them down."""
        if not selection.is_working_tree:
            yield
            return
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                is_idle = not self._calls
            if is_idle:
                self._watcher.start()

    def _check_open_tree(self) -> None:
        """Check the working tree once when it is watched, so that the next call need not ask git."""
        with self._lock:
            slot = self._slots.get((WORKING_TREE, ()))
        if slot is None or not slot.lock.acquire(blocking=False):
            return  # a call that runs checks it
        try:
            if slot.tree is not None:
                self._is_current(slot, slot.tree, WORKING_TREE, Call())
        except (GitmemError, OSError):
            pass  # the folder may be gone; the next call reports it
        finally:
            slot.lock.release()

    @contextmanager
    def lend_tree(self, selection: TreeSelection, kinds: tuple[str, ...], call: Call) -> Iterator[OpenTree]:
        """Yield the selected tree in its present state, for a call that uses several at a time.

        A damaged index is repaired once. Raises: as `with_tree`.
        """
        if selection.is_working_tree:
            kinds = ()
        slot = self._get_slot((selection, kinds))
        with self._counted(selection), ExitStack() as stack:
            try:
                tree = stack.enter_context(self._get_current(slot, selection, kinds, call).use())
            except DamagedFile as problem:
                call.notes.append(f"{problem.message}; rebuilt")
                with slot.lock:
                    slot.close()
                    self._repair(selection)
                tree = stack.enter_context(self._get_current(slot, selection, kinds, call).use())
            yield tree

    def with_current_tree(
        self, selection: TreeSelection, call: Call, action: Callable[[OpenTree], Result]
    ) -> Result | None:
        """Call a function with the selected tree, if it is open and current; else return None. Never waits for others.

        Raises: any error of the function, except DamagedFile.
        """
        with self._lock:
            slot = self._slots.get((selection, ()))
        if slot is None or not slot.lock.acquire(blocking=False):
            return None
        try:
            tree = slot.tree
            if tree is None or not self._is_current(slot, tree, selection, call):
                return None
        finally:
            slot.lock.release()
        try:
            with tree.use() as open_tree:
                return action(open_tree._replace(notes=[*open_tree.notes, *call.notes]))
        except DamagedFile:
            return None

    def _with_slot(
        self,
        slot: _TreeSlot,
        selection: TreeSelection,
        kinds: tuple[str, ...],
        call: Call,
        action: Callable[[OpenTree], Result],
    ) -> Result:
        with self._get_current(slot, selection, kinds, call).use() as open_tree:
            return action(open_tree._replace(notes=[*open_tree.notes, *call.notes]))

    def _get_current(self, slot: _TreeSlot, selection: TreeSelection, kinds: tuple[str, ...], call: Call) -> SharedTree:
        """Return the current tree of a slot. Raises: CallCancelled, NoIndex, UnknownRevision, DamagedFile."""
        with slot.lock:
            call.check()  # the call may have been cancelled while it waited for the lock
            tree = self._get_tree(slot, selection, kinds, call)
            call.check()  # opening may have ended early
        return tree

    def _repair(self, selection: TreeSelection) -> None:
        """Verify every checksum and rebuild the damaged files."""
        with TreeReader(self.workspace.location, selection) as reader:
            rebuild_damaged(self.workspace, reader)

    def _get_slot(self, name: _SlotName) -> _TreeSlot:
        """Return the slot of a tree and evict the least recently used ones."""
        with self._lock:
            slot = self._slots.get(name)
            if slot is None:
                slot = self._slots[name] = _TreeSlot()
            self._slots.move_to_end(name)
            evicted = [self._slots.popitem(last=False)[1] for _ in range(len(self._slots) - MAX_TREES)]
        for other in evicted:
            with other.lock:
                other.close()
        return slot

    def _get_tree(self, slot: _TreeSlot, selection: TreeSelection, kinds: tuple[str, ...], call: Call) -> SharedTree:
        """Return the current tree of a slot; open it if it is not open or stale. The caller holds the slot's lock.

        Without an index the first one is built, and the call waits for it. After FIRST_INDEX_SECONDS it is answered
        from the part that exists.
        """
        first_index = self._first_index
        if first_index is None and slot.tree is not None and self._is_current(slot, slot.tree, selection, call):
            return slot.tree
        try:
            return self._open(slot, selection, kinds, first_index, call)
        except OtherModel:
            raise  # a server does not send a whole repository to another provider because its environment names one
        except NoIndex:
            if not call.builds_index:
                raise
            first_index = first_index or self._start_first_index()
        has_finished = first_index.wait(call, FIRST_INDEX_SECONDS)
        self._forget_finished(first_index)
        call.notes.extend(first_index.announced)
        try:
            return self._open(slot, selection, kinds, self._first_index, call)
        except NoIndex as error:
            if has_finished:
                raise first_index.error or error from error
            raise NoIndex(first_index.describe(), hint="ask again in a moment; until then use grep") from error

    def _start_first_index(self) -> FirstIndex:
        """Start to build the index, once for all calls that wait for it."""
        with self._lock:
            if self._first_index is None:
                self._first_index = FirstIndex(self.workspace)
            return self._first_index

    def _forget_finished(self, first_index: FirstIndex) -> None:
        with self._lock:
            if first_index.finished.is_set():
                self._first_index = None

    def _open(
        self,
        slot: _TreeSlot,
        selection: TreeSelection,
        kinds: tuple[str, ...],
        first_index: FirstIndex | None,
        call: Call,
    ) -> SharedTree:
        """Open a tree; missing blobs are indexed, unless the first index is being built or the call is cancelled."""
        slot.close()
        if selection.is_working_tree:
            self._watcher.reset()  # before the reading: a change meanwhile makes the tree stale at the next call
        reading = self._take_started(selection, call) or start_reading(self.folder, self._environment, selection)
        self.workspace = workspace = reading.workspace
        self._configuration = reading.configuration
        slot.signature = reading.signature
        with reading.reader:
            searcher = open_searcher(
                workspace,
                selection,
                kinds,
                refresh=first_index is None,
                reader=reading.reader,
                encoder=self._encoder,
                is_cancelled=call.is_cancelled,
            )
        if searcher.snapshot.manifest.graph:
            searcher.load_graph()
        # Opening may itself have written the manifest, the first file of the signature. The new signature is taken
        # only if nothing else changed, and if the manifest on disk is the one that the searcher has open.
        after = read_signature(workspace, self._configuration)
        if after[1:] == slot.signature[1:] and self._has_generation(searcher.snapshot.manifest.generation):
            slot.signature = after
        notes = [] if first_index is None else [f"{first_index.describe()}; this answer uses the part that exists"]
        slot.tree = SharedTree(searcher, workspace, notes)
        slot.checked = reading.began
        return slot.tree

    def _take_started(self, selection: TreeSelection, call: Call) -> StartedReading | None:
        """Return the reading that began before, once, if it shows the tree as it was when the call came or later."""
        if not selection.is_working_tree:
            return None
        with self._lock:
            started, self._started = self._started, None
        if started is not None and started.began < call.received:
            started.reader.close()
            return None
        return started

    def _has_generation(self, generation: int) -> bool:
        manifest = find_manifest(self.workspace.paths.manifest)
        return manifest is not None and manifest.generation == generation

    def _is_current(self, slot: _TreeSlot, tree: SharedTree, selection: TreeSelection, call: Call) -> bool:
        """Return whether an open tree is still the selected one. Git is asked only if something may have changed.

        A tree with missing blobs is never current: it is reopened to continue indexing them.
        """
        searcher = tree.searcher
        if tree.is_stale or searcher.missing_files:
            return False
        # Checked since the call came, for another one: both waited for the lock.
        if slot.checked >= call.received:
            return True
        began = time.monotonic()
        is_current = False
        try:
            is_current = self._is_unchanged(slot, searcher, selection, call)
        finally:
            # The watcher may be reset, so the next call would see no change: it must reopen the tree.
            tree.is_stale |= not is_current
        if is_current:
            slot.checked = began
        return is_current

    def _is_unchanged(self, slot: _TreeSlot, searcher: Searcher, selection: TreeSelection, call: Call) -> bool:
        """Return whether the tree of a searcher is still the selected one."""
        if self._states.read(self, self.workspace, self._configuration, call.seen_files) != slot.signature:
            return False
        if selection.is_working_tree:
            if self._watcher.is_unchanged():
                return True
            # Reset before git looks, so that the next call need not ask git again unless something changes.
            self._watcher.reset()
        return searcher.is_current()
