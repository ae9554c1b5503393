"""Signatures of the state of many repositories, read again only where something has happened.

A signature costs some twenty calls of lstat(2): for a hundred repositories a third of a search. The kernel queues an
event before the call that caused it returns. So a signature that was read after its files were watched is still right
if no event about them is in the queue. Where that cannot be known, a signature is read each time.
"""

import threading
from collections.abc import Callable, Hashable, Sequence

from gitmem.errors import ObserverFailed
from gitmem.named_tuple import NamedTuple
from gitmem.resident.watching.folder_events import FolderEvents
from gitmem.resident.watching.inotify_queue import is_supported
from gitmem.resident.watching.state_signature import SeenFiles, StateSignature, read_signature, signed_files
from gitmem.workspace import Workspace


class _Known(NamedTuple):
    """Signature of a repository whose files are watched, and the arguments of the reading."""

    workspace: Workspace
    configuration: Sequence[str]
    signature: StateSignature


class StateWatcher:
    """Signatures of the repositories of a process. Its lock is a leaf: a thread that holds it takes no other."""

    def __init__(self, start: Callable[[], FolderEvents] = FolderEvents) -> None:
        self._start = start
        self._lock = threading.Lock()
        """Guards the attributes below."""
        self._events: FolderEvents | None = None
        self._failed = not is_supported()
        self._known: dict[Hashable, _Known] = {}

    def read(
        self, owner: Hashable, workspace: Workspace, configuration: Sequence[str], seen: SeenFiles | None = None
    ) -> StateSignature:
        """Return the present signature of a repository, as `read_signature` does."""
        with self._lock:
            self._process_events()
            known = self._known.get(owner)
            if known is not None and known.workspace is workspace and known.configuration is configuration:
                return known.signature
            if not self._watch(owner, workspace, configuration):
                return read_signature(workspace, configuration, seen)
            # Not with `seen`: this call may have looked at a file before it was watched.
            signature = read_signature(workspace, configuration)
            self._known[owner] = _Known(workspace, configuration, signature)
            return signature

    def forget(self, owner: Hashable) -> None:
        """Stop watching a repository."""
        with self._lock:
            self._known.pop(owner, None)
            if self._events is not None:
                self._events.forget(owner)

    def close(self) -> None:
        """Stop watching; every later signature is read."""
        with self._lock:
            self._stop()

    def _process_events(self) -> None:
        """Drop the signatures that may have changed."""
        if self._events is None:
            return
        try:
            changed = self._events.changed_owners()
        except ObserverFailed:
            self._stop()
            return
        for owner in list(self._known) if changed is None else changed:
            self._known.pop(owner, None)

    def _watch(self, owner: Hashable, workspace: Workspace, configuration: Sequence[str]) -> bool:
        """Watch the files of a signature; return False if a change might go unnoticed."""
        if self._failed:
            return False
        try:
            self._events = self._events or self._start()
        except ObserverFailed:
            self._failed = True  # a system that refuses once is not asked at every call
            return False
        files, branch = signed_files(workspace)
        # HEAD is watched before it is read: if it moves meanwhile, the next call watches the other branch.
        return self._events.watch(owner, [*files, *configuration]) and self._events.watch(owner, branch())

    def _stop(self) -> None:
        if self._events is not None:
            self._events.close()
        self._events, self._failed = None, True
        self._known.clear()
