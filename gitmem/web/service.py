"""What all operations of the server share: the open repositories, the registry, the index runs, the settings."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.answering.repository_selection import refuse_published
from gitmem.errors import NotARepository
from gitmem.registry import KnownRepository, read_registry
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.repositories import OpenRepositories
from gitmem.settings import Settings
from gitmem.web.errors import unknown_repository
from gitmem.web.index_jobs import IndexJobs
from gitmem.workspace import Workspace, open_workspace


class Service:
    """Repositories of one user, for any number of requests at a time."""

    def __init__(self, repositories: OpenRepositories) -> None:
        self.repositories = repositories
        self.environment: Mapping[str, str] = repositories.environment
        self.jobs: Final = IndexJobs()
        self.started: Final = time.time()

    def known(self, name: str) -> KnownRepository:
        """Return a registered repository by its name, never by a path. Raises: Problem, UsageError for `org:NAME`."""
        # The registry is a small file, and read for each request: another process may just have changed it.
        for repository in read_registry(self.environment):
            if repository.name == name:
                return repository
        refuse_published(name)
        raise unknown_repository(name)

    def open(self, name: str) -> OpenRepository:
        """Return a registered repository that stays open. Raises: Problem, NotARepository, ConfigError."""
        known = self.known(name)
        if not known.path.is_dir():
            raise NotARepository(f"the folder of `{name}` does not exist", hint="gitmem repos prune")
        return self.repositories.get(known.path)

    def workspace(self, name: str) -> Workspace:
        """Return a registered repository in its present state. Raises: Problem, NotARepository, ConfigError."""
        known = self.known(name)
        if not known.path.is_dir():
            raise NotARepository(f"the folder of `{name}` does not exist", hint="gitmem repos prune")
        return open_workspace(known.path, self.environment)

    def settings(self, names: Sequence[str]) -> Settings:
        """Return the settings whose limits apply to a search: those of one repository, else the user's own.

        Both are read again if a file that decides them has changed. Raises: Problem, NotARepository, ConfigError.
        """
        # A repository whose folder is gone is reported by the search itself.
        if len(names) == 1 and self.known(names[0]).path.is_dir():
            return self.open(names[0]).current_workspace().settings
        return self.repositories.user_settings.read()
