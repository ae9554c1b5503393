"""How git is made to call gitmem, event by event, in words that are shown."""

from pathlib import Path
from typing import Final, NamedTuple

EVENTS: Final = ("pre-commit", "post-commit", "post-checkout", "post-merge", "post-rewrite")
"""At these the index may come to lack something; what is staged for a commit is indexed when the commit exists."""

INSTALLED: Final = "installed"
MISSING: Final = "missing"
OUTDATED: Final = "outdated"
LEFT: Final = "left"


class HookState(NamedTuple):
    """One event: INSTALLED, MISSING, OUTDATED (put there for another gitmem or git), or LEFT to whoever owns the hook.

    `told` says where or why; `advice` what the person can do about an event that is LEFT.
    """

    event: str
    state: str
    told: str = ""
    advice: str = ""


class HookReport(NamedTuple):
    """All events, and the place where git finds their hooks: a folder, or its configuration."""

    place: Path
    configured: bool
    states: tuple[HookState, ...]

    def events(self, state: str) -> list[str]:
        """The events that are in a state."""
        return [hook.event for hook in self.states if hook.state == state]
