"""A result of a search in the past."""

from typing import TYPE_CHECKING

from gitmem.named_tuple import NamedTuple

if TYPE_CHECKING:
    from gitmem.git.file_history import CommitDetails
    from gitmem.search.hits import Hit


class PastHit(NamedTuple):
    """Definition of the past, shown by one of its versions, at a path that it had then.

    `introduced` and `removed` are the commits of the definition, `since` and `until` those of the version. They are
    None if unknown; `is_alive` and `is_current` say that the definition and the version are still in the tip.
    `versions` counts all versions.
    """

    hit: "Hit"
    lines: list[str]
    versions: int
    introduced: "CommitDetails | None"
    removed: "CommitDetails | None"
    since: "CommitDetails | None"
    until: "CommitDetails | None"
    is_alive: bool
    is_current: bool
