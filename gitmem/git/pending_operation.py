"""Detection of a git operation in progress, which may take several commits, so that the current state is transient."""

from typing import Final

from gitmem.git.locate import RepositoryLocation

_STATE_FILES: Final = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "sequencer": "cherry-pick or revert",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
"""Files and folders that git keeps in a working tree's git directory during an operation, as in `git status`."""


def find_operation(location: RepositoryLocation) -> str | None:
    """Return the name of the operation in progress in this working tree, or None."""
    return next((name for file, name in _STATE_FILES.items() if (location.git_dir / file).exists()), None)
