"""Rights of roles on published repositories: single grants, and a file that lists all grants of a forge.

The file has a line for each repository: its name, and the roles that may read it, separated by spaces. Text behind `#`
is a comment. Grants that came from a file and are no longer in it are revoked; those made by hand stay.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.errors import UsageError
from gitmem.named_tuple import NamedTuple
from gitmem.org.migrations import READER, require_version

if TYPE_CHECKING:
    from gitmem.org.connection import Database

_FILE: Final = "file"
"""Source of the grants that a file made."""


class SynchronisedGrants(NamedTuple):
    """Result of a file of grants; `unknown` are roles that the server does not have."""

    granted: int
    revoked: int
    unknown: list[str]


def grant(database: "Database", repository: str, role: str) -> None:
    """Let a role read a repository. Raises UsageError for an unknown name."""
    require_version(database)
    number = _get_repository(database, repository)
    if not _known_roles(database, [role]):
        raise UsageError(f"the server has no role `{role}`", hint=f'CREATE ROLE "{role}" LOGIN')
    database.execute(_GRANT, (number, role, ""))
    _admit(database, role)
    database.commit()


def revoke(database: "Database", repository: str, role: str) -> None:
    """Take the right from a role. Raises UsageError for an unknown name."""
    require_version(database)
    number = _get_repository(database, repository)
    deletion = database.execute(
        "DELETE FROM gitmem.grants WHERE repository = %s AND role = to_regrole(quote_ident(%s))", (number, role)
    )
    if not deletion.rowcount:
        raise UsageError(f"`{role}` has no grant on `{repository}`", hint="gitmem org repos --json lists all grants")
    database.commit()


def synchronise(database: "Database", wanted: Mapping[str, tuple[str, ...]]) -> SynchronisedGrants:
    """Make the grants of a file those of the database, in one transaction."""
    require_version(database)
    names = sorted({role for roles in wanted.values() for role in roles})
    known = _known_roles(database, names)
    # A repository may be granted before it is first published, so its readers never wait for the next run.
    database.execute(
        "INSERT INTO gitmem.repositories (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING", (sorted(wanted),)
    )
    pairs = [(name, role) for name, roles in sorted(wanted.items()) for role in dict.fromkeys(roles) if role in known]
    parameters = {"repositories": [name for name, _ in pairs], "roles": [role for _, role in pairs], "source": _FILE}
    revoked = database.execute(_REMOVE_OTHERS, parameters).rowcount
    granted = database.execute(_ADD_ALL, parameters).rowcount
    for role in sorted(known):
        _admit(database, role)
    database.commit()
    return SynchronisedGrants(granted, revoked, [name for name in names if name not in known])


_GRANT: Final = """
INSERT INTO gitmem.grants (repository, role, source) VALUES (%s, to_regrole(quote_ident(%s)), %s)
ON CONFLICT (repository, role) DO UPDATE SET source = excluded.source
"""
_REMOVE_OTHERS: Final = """
DELETE FROM gitmem.grants WHERE source = %(source)s AND (repository, role) NOT IN (
  SELECT repositories.id, to_regrole(quote_ident(wanted.role))
  FROM unnest(%(repositories)s::text[], %(roles)s::text[]) wanted (name, role)
    JOIN gitmem.repositories ON repositories.name = wanted.name)
"""
_ADD_ALL: Final = """
INSERT INTO gitmem.grants (repository, role, source)
SELECT repositories.id, to_regrole(quote_ident(wanted.role)), %(source)s
FROM unnest(%(repositories)s::text[], %(roles)s::text[]) wanted (name, role)
  JOIN gitmem.repositories ON repositories.name = wanted.name
ON CONFLICT DO NOTHING
"""


def read_grants(file: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of grants. Raises UsageError for a malformed one."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"cannot read {file}: {problem}", hint="lines of REPOSITORY ROLE..., in UTF-8") from problem
    grants: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, 1):
        name, *roles = line.partition("#")[0].split() or [""]
        if not name:
            continue
        if name in grants:
            raise UsageError(f"{file}:{number}: `{name}` is listed twice", hint="put all of its roles on one line")
        grants[name] = tuple(roles)
    return grants


def _get_repository(database: "Database", name: str) -> int:
    row = database.execute("SELECT id FROM gitmem.visible_repositories() WHERE name = %s", (name,)).fetchone()
    if row is None:
        raise UsageError(f"no repository `{name}` is published", hint="gitmem org repos")
    return int(str(row[0]))


def _known_roles(database: "Database", names: list[str]) -> set[str]:
    rows = database.execute("SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", (names,)).fetchall()
    return {str(row[0]) for row in rows}


def _admit(database: "Database", role: str) -> None:
    """Let a role use the tables at all; the policies decide which rows it sees."""
    row = database.execute(
        "SELECT format('GRANT %%I TO %%I', %s::text, %s::text) WHERE NOT pg_has_role(%s, %s, 'USAGE')",
        (READER, role, role, READER),
    ).fetchone()
    if row is not None:
        database.execute(str(row[0]).encode())
