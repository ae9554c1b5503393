"""Places that keep what writers share: a git remote here, and whatever else lists, sends and takes commits of refs."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from gitmem.git.locate import RepositoryLocation
from gitmem.git.remotes import PushedRef, RefUpdate, fetch_refs, find_push_url, find_remote, list_remote_refs, push_refs
from gitmem.memory.writer_refs import BRANCHES
from gitmem.records.sharing_place import read_place

_PREFIX: Final = "refs/gitmem/"


class Transport(Protocol):
    """Place with the refs of writers. `name` is for messages, `cache` a part of the refs that keep what was fetched.

    `command` synchronises with it, `remedy` helps if it refuses a ref. Each method raises a GitmemError if the place
    cannot be reached.
    """

    name: str
    cache: str
    command: str
    remedy: str

    def place(self) -> str:
        """Return the place of this clone's ref, see `writer_refs.PREFIXES`."""

    def list_refs(self) -> dict[str, str]:
        """Return the commits of all refs of records, by name."""

    def fetch(self, targets: Mapping[str, str]) -> None:
        """Fetch refs into refs of this repository, by name; the latter may move back."""

    def push(self, updates: Sequence[RefUpdate]) -> list[PushedRef]:
        """Move refs, each only from the commit that the update expects."""


class GitRemote:
    """Remote of the repository. What is pushed continues what is there, so that is read from where pushes go."""

    def __init__(self, location: RepositoryLocation, remote: str, *, push: bool, patience: float | None = None) -> None:
        """Find the remote; "" is the one of the current branch. `patience` is in seconds. Raises UsageError."""
        self.name = self.cache = find_remote(location, remote)
        self.command = f"gitmem sync {self.name}"
        self.remedy = f"choose refs that it takes: gitmem share init {self.name}"
        self._location = location
        self._push = push
        self._patience = patience
        self._url = ""

    def place(self) -> str:
        """Return the place that was chosen for the remote."""
        return read_place(self._location, self.name)

    def list_refs(self) -> dict[str, str]:
        """Return the refs of the remote, from the URL for pushes if there are any."""
        self._url = find_push_url(self._location, self.name) if self._push else ""
        prefixes = (_PREFIX, BRANCHES)
        return list_remote_refs(self._location, self.name, prefixes, self._url, patience=self._patience)

    def fetch(self, targets: Mapping[str, str]) -> None:
        """Fetch by git's own transport."""
        fetch_refs(self._location, self.name, targets, self._url, patience=self._patience)

    def push(self, updates: Sequence[RefUpdate]) -> list[PushedRef]:
        """Push by git's own transport."""
        return push_refs(self._location, self.name, updates, patience=self._patience)
