"""One repository as the server holds it: trees open and warm, opened again as soon as anything moved.

What is in the working tree is watched by `watch`, everything else by `stamp`. Where the tree cannot be watched, git is
asked at every call.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.embedding.encoder import Encoder
from gitmem.errors import DamagedFile, NoIndex
from gitmem.freshness.refresh import refresh
from gitmem.freshness.tree_selection import TreeReader, TreeSelection
from gitmem.git.git_config import configuration_files
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.mcp.first_index import FirstIndex
from gitmem.mcp.tools.progress_and_cancellation import Call
from gitmem.mcp.watching.state_signature import StateSignature, read_signature
from gitmem.mcp.watching.working_tree import WorkingTreeWatcher
from gitmem.store.manifest import find_manifest
from gitmem.workspace import Workspace, open_workspace

TREES: Final = 4
"""Trees held open: the working tree and the revisions asked for last."""

READERS: Final = 2
"""Readers kept for each tree, a process each; when more calls come at once, they open their own."""

FIRST_SECONDS: Final = 20.0
"""A call waits so long for a first index before it answers from what is there: clients give up after 30 or 60."""

Made = TypeVar("Made")


class OpenTree(NamedTuple):
    """A tree to ask: its repository, a reader of its blobs, and notes for whoever asks. Who finds that a file is not
    what it was taken for calls `doubt`, and the next call looks at all of them."""

    searcher: Searcher
    workspace: Workspace
    reader: ObjectReader
    notes: list[str]
    doubt: Callable[[], None]


Use = Callable[[OpenTree], Made]


class _SharedTree:
    """A tree held open, for any number of calls at once: a reader is lent to each. What they share of the search only
    ever grows by what any of them would find, and is never taken back."""

    def __init__(self, searcher: Searcher, workspace: Workspace, notes: list[str]) -> None:
        self.searcher = searcher
        self._workspace = workspace
        self._notes = notes
        self._lock = threading.Lock()
        self._idle: list[ObjectReader] = []
        self._closed = False
        self.doubted = False

    @contextmanager
    def lend(self) -> Iterator[OpenTree]:
        """The tree with a reader that nobody else uses meanwhile."""
        with self._lock:
            reader = self._idle.pop() if self._idle else None
        if reader is None:
            reader = open_reader(self.searcher.tree.location, bulk=False, files=self.searcher.files)
        try:
            yield OpenTree(self.searcher, self._workspace, reader, self._notes, self._doubt)
        finally:
            with self._lock:
                kept = not self._closed and len(self._idle) < READERS
                if kept:
                    self._idle.append(reader)
            if not kept:
                reader.close()

    def _doubt(self) -> None:
        self.doubted = True

    def close(self) -> None:
        """Let go of it, once those who use it have done so."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()


class _TreeSlot:
    """The place of a tree, and what told that the one held open is the right one. `lock` is held while that is found
    out, and while it is opened."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held: _SharedTree | None = None
        self.stamp: StateSignature = ()

    def close(self) -> None:
        """Let go of it."""
        held, self.held = self.held, None
        if held is not None:
            held.close()


class OpenRepository:
    """One working tree and the revisions of its repository."""

    def __init__(self, folder: Path, environment: Mapping[str, str], encoder: Encoder) -> None:
        self._encoder = encoder
        self.workspace = open_workspace(folder, environment)
        self._folder = folder
        self._environment = environment
        self._trees: OrderedDict[tuple[str, ...], _TreeSlot] = OrderedDict()
        self._lock = threading.Lock()
        self._first: FirstIndex | None = None
        self._watch = WorkingTreeWatcher(self.workspace)
        self._configuration: list[Path] = []

    def close(self, seconds: float) -> None:
        """Stop what goes on behind the calls, and wait so long for its end at most."""
        self._watch.close()
        if self._first is not None:
            self._first.stop()
            self._first.done.wait(seconds)
        for tree in self._trees.values():
            if tree.lock.acquire(timeout=seconds):
                tree.close()
                tree.lock.release()

    def reopen(self) -> Workspace:
        """The repository as it is now."""
        self.workspace = open_workspace(self._folder, self._environment)
        return self.workspace

    def use(self, selection: TreeSelection, kinds: tuple[str, ...], call: Call, use: Use[Made]) -> Made:
        """Call a function with the selected tree in its present state; `kinds` are those it will search.

        Raises: Cancelled, and what opening the tree raises.
        """
        tree = self._tree((selection.rev, *kinds) if selection.rev else ())
        kinds = kinds if selection.rev else ()  # the working tree is held open once, for all kinds
        try:
            return self._use(tree, selection, kinds, call, use)
        except DamagedFile:
            with tree.lock:
                tree.close()
                self._mend(selection)
        return self._use(tree, selection, kinds, call, use)

    def _use(
        self, tree: _TreeSlot, selection: TreeSelection, kinds: tuple[str, ...], call: Call, use: Use[Made]
    ) -> Made:
        with tree.lock:
            call.check()
            held = self._opened(tree, selection, kinds, call)
        with held.lend() as opened:
            return use(opened)

    def _mend(self, selection: TreeSelection) -> None:
        """Read every checksum, and make what is damaged anew."""
        with TreeReader(self.workspace.location, selection) as reader:
            refresh(self.workspace, reader.read().revision.tree, check=True)

    def _tree(self, name: tuple[str, ...]) -> _TreeSlot:
        """The place of a tree, those used last kept. The working tree has no name, and all records behind it."""
        with self._lock:
            tree = self._trees.setdefault(name, _TreeSlot())
            self._trees.move_to_end(name)
            dropped = [self._trees.popitem(last=False)[1] for _ in range(len(self._trees) - TREES)]
        for other in dropped:
            with other.lock:
                other.close()
        return tree

    def _opened(self, tree: _TreeSlot, selection: TreeSelection, kinds: tuple[str, ...], call: Call) -> _SharedTree:
        """The tree, opened anew if anything moved since."""
        first = self._first
        if first is None and tree.held is not None and self._is_current(tree, tree.held, selection):
            return tree.held
        try:
            return self._open(tree, selection, kinds, first)
        except NoIndex:
            first = first or self._start_first()
        came = first.wait(call, FIRST_SECONDS)
        self._end_first(first)
        try:
            return self._open(tree, selection, kinds, self._first)
        except NoIndex as problem:
            if came:
                raise first.problem or problem from problem
            raise NoIndex(first.describe(), hint="ask again in a moment; until then use grep") from problem

    def _start_first(self) -> FirstIndex:
        """Build the index, once for all calls that wait for it."""
        with self._lock:
            if self._first is None:
                self._first = FirstIndex(self.workspace)
            return self._first

    def _end_first(self, first: FirstIndex) -> None:
        with self._lock:
            if first.done.is_set():
                self._first = None

    def _open(
        self, tree: _TreeSlot, selection: TreeSelection, kinds: tuple[str, ...], first: FirstIndex | None
    ) -> _SharedTree:
        """Open a tree. The signs are taken before: what moves meanwhile is seen by the next call."""
        tree.close()
        if selection.is_working_tree:
            self._watch.reset()
        workspace = self.reopen()
        self._configuration = configuration_files(workspace.location, self._environment)
        tree.stamp = read_signature(workspace, self._configuration)
        searcher = open_searcher(workspace, selection, kinds, refresh=first is None, encoder=self._encoder)
        if searcher.snapshot.manifest.graph:
            searcher.load_graph()
        healed = read_signature(workspace, self._configuration)
        if healed[1:] == tree.stamp[1:] and self._is_generation_on_disk(searcher):
            tree.stamp = healed
        notes = [] if first is None else [f"{first.describe()}; this answer is from what is there"]
        tree.held = _SharedTree(searcher, workspace, notes)
        return tree.held

    def _is_generation_on_disk(self, searcher: Searcher) -> bool:
        manifest = find_manifest(self.workspace.paths.manifest)
        return manifest is not None and manifest.generation == searcher.snapshot.manifest.generation

    def _is_current(self, tree: _TreeSlot, held: _SharedTree, selection: TreeSelection) -> bool:
        """Whether a tree held open is the one asked for. Git is asked only where something may have changed.

        One that the index lacked something of is opened again, and healed on.
        """
        searcher = held.searcher
        if held.doubted or searcher.missing_files or read_signature(self.workspace, self._configuration) != tree.stamp:
            return False
        if selection.is_working_tree:
            if self._watch.is_unchanged():
                return True
            self._watch.reset()
        return searcher.is_current()
