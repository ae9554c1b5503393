"""Ids that name their repository: `NAME:ID`, where NAME is that of a known repository and ID is valid in it. Pure.

`org:NAME:ID` is one on the server of an organisation, unless a known repository is named `org`.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.registry import NAME_PATTERN, RESERVED

PUBLISHED: Final = "org:"
"""Prefix of the names of repositories that are searched on the server of the organisation; `org:*` means all."""

REPOSITORY: Final = "repository"
"""Begins the id of a repository itself: `repository:NAME`. No repository has this name."""

TEMPLATE: Final = "template"
"""Begins the id of a template of reports: `template:NAME`. No new repository has this name; an older one may."""

_LINES: Final = re.compile(r"(chunk_)?[0-9]+|[0-9]+-[0-9]+")
"""Part of a file: `README:12` is a line of it, also if a repository has that name."""

_PREFIX: Final = re.compile(rf"({NAME_PATTERN}):(.+)", re.DOTALL)


class RepositoryId(NamedTuple):
    """Id in a repository. `repository` is "" for the user's own; REPOSITORY or TEMPLATE if `name` is that of one."""

    repository: str
    name: str


def parse_ids(ids: Sequence[str], known: Collection[str]) -> list[RepositoryId]:
    """Split ids at the name of a known repository, if they begin with one."""
    return [_parse(text, known) for text in ids]


def _parse(text: str, known: Collection[str]) -> RepositoryId:
    name, colon, rest = text.partition(":")
    if name == REPOSITORY and rest:
        return RepositoryId(REPOSITORY, rest)
    if colon and rest and name in known and not _LINES.fullmatch(rest):
        return RepositoryId(name, rest)
    if name == TEMPLATE and rest and not _LINES.fullmatch(rest):
        return RepositoryId(TEMPLATE, rest)
    if name + colon == PUBLISHED:
        own, second, location = rest.partition(":")
        if own and second and location and not _LINES.fullmatch(location):
            return RepositoryId(PUBLISHED + own, location)
    return RepositoryId("", text)


def repository_like(text: str) -> str:
    """Return the word with which an id begins as if it were the name of a repository, "" if there is none."""
    match = _PREFIX.fullmatch(text)
    return match[1] if match and match[1] not in RESERVED and not _LINES.fullmatch(match[2]) else ""


def repository_hint(name: str, known: Collection[str]) -> str:
    """Return the hint for an unknown repository: a known name like it, or else the command that lists them."""
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong names only

    similar = find_similar_name(name, known)
    return f"did you mean `{similar}`?" if similar else "gitmem repos list"


def is_published(name: str) -> bool:
    """Return whether a name is that of a repository on the server. No local one has a colon in its name."""
    return name.startswith(PUBLISHED)
