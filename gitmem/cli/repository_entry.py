"""Enter an indexed repository into the user's list. Imports neither click nor numpy."""

from collections.abc import Mapping
from contextlib import suppress

from gitmem.errors import StorageFailed
from gitmem.registry import add_repository, read_registry
from gitmem.workspace import Workspace, registered_folder


def enter_if_new(workspace: Workspace, environment: Mapping[str, str]) -> None:
    """Put a repository into the list unless it is there, or the list cannot be read or written.

    No other feature of the commands that index depends on it.
    """
    folder = registered_folder(workspace)
    with suppress(StorageFailed):
        # Nearly all runs are those of known repositories: reading takes no lock.
        if all(known.path != folder for known in read_registry(environment)):
            add_repository(environment, folder)
