"""Repositories that a process holds open between calls. For their locks see `open_repository`."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.errors import GitmemError

# Numpy, the index and the model take 150 ms and 60 MB. They are loaded when the first repository is opened.
if TYPE_CHECKING:
    from gitmem.answering.federated_search import Member
    from gitmem.embedding.encoder import Encoder
    from gitmem.resident.call import Call
    from gitmem.resident.combination import Combination
    from gitmem.resident.open_repository import OpenRepository
    from gitmem.resident.started_reading import StartedReading
    from gitmem.resident.user_settings import UserSettings
    from gitmem.resident.watching.state_watcher import StateWatcher

MAX_OTHER_REPOSITORIES: Final = 128
"""Repositories held open in addition to the process's own: a search over all of a user's repositories opens each."""

SPARE_WORKER_SECONDS: Final = 120.0
"""Time for which an idle indexing process is kept for the next change: while someone edits, there is one soon."""


class OpenRepositories:
    """Table of open repositories by folder. The repository of `own` is never closed for another one."""

    def __init__(self, own: Path, environment: Mapping[str, str]) -> None:
        self.own = own
        self.environment = environment
        self.on_open: Callable[[OpenRepository], None] = lambda _: None
        """Called with each repository that is opened."""
        self._repositories: dict[Path, OpenRepository] = {}
        """Open repositories, the least recently used first."""
        self._lock = threading.Lock()
        """Guards the table, the combination and `_started`."""
        self._combination: Combination | None = None
        self._started: StartedReading | None = None

    def start_reading_own(self) -> None:
        """Start to read the working tree of `own`, if it has an index, for the first call that opens it. Loads little.

        That call must accept a tree as it is now.
        """
        from gitmem.freshness.tree_selection import WORKING_TREE
        from gitmem.resident.started_reading import start_reading
        from gitmem.workspace import find_index, open_workspace

        with suppress(GitmemError):  # the first call reports it
            if find_index(open_workspace(self.own, self.environment)) is not None:
                self._started = start_reading(self.own, self.environment, WORKING_TREE)

    @cached_property
    def user_settings(self) -> "UserSettings":
        """The user's settings outside any repository."""
        from gitmem.resident.user_settings import UserSettings

        return UserSettings(self.environment)

    @property
    def is_own_open(self) -> bool:
        """Whether the repository of `own` is open."""
        with self._lock:
            return self.own in self._repositories

    def get(self, folder: Path, *, announce: bool = True) -> "OpenRepository":
        """Return the repository of a folder; open it if necessary, and close the least recently used one.

        With `announce` `on_open` is called if it was opened. Raises: NotARepository, ConfigError.
        """
        from gitmem.indexing.spare_worker import spare_worker
        from gitmem.resident.open_repository import OpenRepository

        spare_worker.seconds = SPARE_WORKER_SECONDS
        with self._lock:
            repository = self._repositories.pop(folder, None)
            is_new = repository is None
            if repository is None:
                started, self._started = (self._started, None) if folder == self.own else (None, self._started)
                repository = OpenRepository(folder, self.environment, self._encoder, self._states, started)
            self._repositories[folder] = repository
            if len(self._repositories) > MAX_OTHER_REPOSITORIES:
                others = [other for other in self._repositories if other != self.own]
                for other in others[:-MAX_OTHER_REPOSITORIES]:
                    self._repositories.pop(other).close(0)
        if is_new and announce:
            self.on_open(repository)
        return repository

    def reload(self, repository: "OpenRepository", call: "Call") -> "OpenRepository":
        """Replace an open repository by one with the present configuration, and return that.

        It is opened and, if there is an index, its tree is too, before it takes the place of the former one. If that
        fails, the former one stays. Raises: ConfigError, and as `with_tree`.
        """
        from gitmem.freshness.tree_selection import WORKING_TREE
        from gitmem.resident.open_repository import OpenRepository
        from gitmem.workspace import find_index

        new = OpenRepository(repository.folder, self.environment, self._encoder, self._states)
        try:
            if find_index(new.workspace) is not None:
                new.with_tree(WORKING_TREE, (), call, lambda _: None)
        except BaseException:
            new.close(0)
            raise
        with self._lock:
            self._repositories[repository.folder] = new
        # Calls that still use the former one finish with it.
        repository.close(0)
        return new

    def combine(self, members: "Sequence[Member]", cache_seconds: int) -> "Combination":
        """Return a search over some open trees: the last one again if they are the same."""
        from gitmem.resident.combination import Combination

        with self._lock:
            last = self._combination
        if last is not None and last.is_of(members, cache_seconds):
            return last
        combination = Combination(members, cache_seconds)
        with self._lock:
            self._combination = combination
        return combination

    def close(self, seconds: float) -> None:
        """Stop the background work and close all repositories; wait at most `seconds` for each step."""
        from gitmem.indexing.spare_worker import spare_worker

        spare_worker.seconds = 0.0
        spare_worker.end()
        with self._lock:
            if self._started is not None:
                self._started.reader.close()
            for repository in self._repositories.values():
                repository.close(seconds)
        self._states.close()

    @cached_property
    def _states(self) -> "StateWatcher":
        """Signatures of the states of all repositories, with one queue of events for all."""
        from gitmem.resident.watching.state_watcher import StateWatcher

        return StateWatcher()

    @cached_property
    def _encoder(self) -> "Encoder":
        """Model, loaded once for all trees."""
        from gitmem.embedding.bundled import BundledEncoder

        return BundledEncoder()
