"""Whether git is in the middle of something that takes several commits, and what stands now is about to change."""

from typing import Final

from gitmem.git.locate import Location

_SIGNS: Final = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "sequencer": "cherry-pick or revert",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
"""What git keeps in the git directory of a working tree for as long as the operation lasts."""


def find_operation(location: Location) -> str | None:
    """Name the operation that is in progress in this working tree, None where there is none."""
    return next((name for sign, name in _SIGNS.items() if (location.git_dir / sign).exists()), None)
