"""What all operations of the server share: the open repositories, the registry, the index runs, the settings."""

import time
from collections.abc import Mapping
from typing import Final

from gitmem.errors import NotARepository
from gitmem.registry import KnownRepository, read_registry
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.repositories import OpenRepositories
from gitmem.settings import Settings
from gitmem.web.errors import unknown_repository
from gitmem.web.index_jobs import IndexJobs
from gitmem.workspace import Workspace, open_workspace, read_user_settings


class Service:
    """Repositories of one user, for any number of requests at a time."""

    def __init__(self, repositories: OpenRepositories) -> None:
        self.repositories = repositories
        self.environment: Mapping[str, str] = repositories.environment
        self.jobs: Final = IndexJobs()
        self.started: Final = time.time()

    def known(self, name: str) -> KnownRepository:
        """Return a registered repository by its name, never by a path. Raises: Problem."""
        # The registry is a small file, and read for each request: another process may just have changed it.
        for repository in read_registry(self.environment):
            if repository.name == name:
                return repository
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

    def settings(self) -> Settings:
        """Return the settings of the user, outside any repository. Raises: ConfigError."""
        return read_user_settings(self.environment)
