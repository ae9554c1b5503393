"""Reading of a tree that has begun: `git status` runs while numpy, the index and the model are loaded."""

import time
from collections.abc import Mapping
from pathlib import Path

from gitmem.freshness.tree_selection import TreeReader, TreeSelection
from gitmem.git.git_config import configuration_files
from gitmem.named_tuple import NamedTuple
from gitmem.resident.watching.state_signature import StateSignature, read_signature
from gitmem.workspace import Workspace, open_workspace


class StartedReading(NamedTuple):
    """Reader of a tree, and what was noted before it started: a change since then makes the tree stale.

    `configuration` are the files of `read_signature`, and `began` is by `time.monotonic`.
    """

    workspace: Workspace
    configuration: list[str]
    signature: StateSignature
    began: float
    reader: TreeReader


def start_reading(folder: Path, environment: Mapping[str, str], selection: TreeSelection) -> StartedReading:
    """Start to read a tree of the repository in a folder. Close the reader. Raises: NotARepository, ConfigError."""
    began = time.monotonic()
    workspace = open_workspace(folder, environment)
    configuration = list(map(str, configuration_files(workspace.location, environment)))
    signature = read_signature(workspace, configuration)
    return StartedReading(workspace, configuration, signature, began, TreeReader(workspace.location, selection))
