"""State of each hook: whether git starts gitmem at an event, and if not, why."""

from pathlib import Path
from typing import Final

from gitmem.named_tuple import NamedTuple

PUSHES: Final = "pre-push"
EVENTS: Final = ("pre-commit", "post-commit", "post-checkout", "post-merge", "post-rewrite", PUSHES)
"""Events that may leave the index incomplete, and that of a push, after which records may be shared.

The files staged for a commit are indexed once the commit exists.
"""

INSTALLED: Final = "installed"
MISSING: Final = "missing"
OUTDATED: Final = "outdated"
SKIPPED: Final = "skipped"


class HookState(NamedTuple):
    """State of one event.

    INSTALLED, MISSING, OUTDATED (installed by another gitmem or for another git), or SKIPPED (another program owns the
    hook, or it is switched off). `detail` is the location or the reason, `advice` a remedy for a SKIPPED event, if
    possible a command to paste. `owner` is the program that writes the hook.
    """

    event: str
    state: str
    detail: str = ""
    advice: str = ""
    owner: str = ""


class HookReport(NamedTuple):
    """States of all events, and the location of their hooks: a folder, or git's configuration file."""

    location: Path
    configured: bool
    states: tuple[HookState, ...]

    def events(self, state: str) -> list[str]:
        """Return the events in a state."""
        return [hook.event for hook in self.states if hook.state == state]
