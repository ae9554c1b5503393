"""Repositories that the handlers of tools use."""

from collections.abc import Callable

from gitmem.named_tuple import NamedTuple
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.repositories import OpenRepositories

GetRepository = Callable[[str], OpenRepository]
"""Returns the repository of a `root` argument. Called after the other arguments have been checked."""


class ServedRepositories(NamedTuple):
    """Repositories that a call may use: that of its `root`, and those of the user in the table."""

    get: GetRepository
    table: OpenRepositories
