"""Notes that several answers about history share."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from gitmem.display import count
from gitmem.git.promisor import is_partial

if TYPE_CHECKING:
    from gitmem.git.locate import RepositoryLocation

SHALLOW_NOTE: Final = "the clone is shallow and ends at {}: what came before is unknown (git fetch --unshallow)"

UNREAD_NOTE: Final = (
    "the history is followed back to {}, which needs an object that git cannot read: what came before is unknown"
)

_NAMED: Final = 3
"""Objects that a note names; the others are counted."""

_PARTIAL_REMEDY: Final = "fetch them with: git fetch --refetch --no-filter"
_DAMAGE_REMEDY: Final = "find the damage with git fsck, and restore the objects from another clone"


def unreadable_notes(location: "RepositoryLocation", oids: Collection[str]) -> list[str]:
    """Return the note about objects that git lacks or that are damaged, with the consequence and the remedy."""
    if not oids:
        return []
    named = ", ".join(oid[:12] for oid in sorted(oids)[:_NAMED])
    more = f" and {len(oids) - _NAMED:,} more" if len(oids) > _NAMED else ""
    remedy = _PARTIAL_REMEDY if is_partial(location) else _DAMAGE_REMEDY
    objects = count(len(oids), "object")
    return [f"git cannot read {objects} ({named}{more}): code that moved may count as removed and added ({remedy})"]
