"""List and drop published repositories, as far as the role of the connection may see them."""

from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import DatabaseFailed, UsageError
from gitmem.named_tuple import NamedTuple
from gitmem.org.connection import database_errors
from gitmem.org.head_publication import release_blobs
from gitmem.org.migrations import MIGRATIONS, require_version

if TYPE_CHECKING:
    from gitmem.org.connection import Database


class ListedHead(NamedTuple):
    """Head of a repository. A repository that is granted but not published has no revision."""

    repository: str
    revision: str | None
    is_default: bool
    commit: str | None
    files: int
    chunks: int
    published: str | None
    readers: list[str]


class Share(NamedTuple):
    """Server with a share of the contents: its size, or why it does not answer."""

    server: str
    bytes: int | None
    problem: str | None


class DatabaseStatus(NamedTuple):
    """State of the database for the role of the connection.

    `bytes` are the sizes of the tables with their indexes, for roles that publish. `shares` are other servers with a
    share of the contents.
    """

    schema: int
    server: str
    role: str
    repositories: int
    heads: int
    chunks: int
    blobs: int | None
    unused: int | None
    bytes: dict[str, int]
    shares: list[Share]


_LIST: Final = """
SELECT repositories.name, (head).revision, coalesce((head).is_default, false), (head).commit, coalesce((head).files, 0),
  coalesce((head).chunks, 0), to_char((head).published AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  ARRAY(SELECT grants.role::text FROM gitmem.grants WHERE grants.repository = repositories.id ORDER BY 1)
FROM gitmem.visible_repositories() repositories
  LEFT JOIN gitmem.visible_heads() visible ON (head).repository = repositories.id
ORDER BY repositories.name, (head).is_default DESC, (head).revision
"""
_TABLES: Final = (
    "blobs", "contents", "signatures", "term_lists", "runs", "head_parts", "entries", "heads", "repositories", "grants",
    "producers", "memory_refs", "memory_packs",
)  # fmt: skip


def list_heads(database: "Database") -> list[ListedHead]:
    """Return the heads that the role may see, sorted by repository; `readers` are those that it may see itself."""
    require_version(database)
    return [ListedHead(*row) for row in database.execute(_LIST).fetchall()]  # type: ignore[arg-type]


def read_status(database: "Database") -> DatabaseStatus:
    """Return the state of the database. Raises GitmemError if the schema is not that of this version."""
    require_version(database)
    about: Any = database.execute(
        "SELECT current_setting('server_version'),"
        " current_user, pg_has_role('gitmem_publisher', 'USAGE'), (SELECT count(*) FROM gitmem.visible_repositories()),"
        " count(*), coalesce(sum((head).chunks), 0)::bigint FROM gitmem.visible_heads()"
    ).fetchone()
    server, role, publishes, repositories, heads, chunks = about
    blobs = unused = None
    sizes: dict[str, int] = {}
    if publishes:
        counted: Any = database.execute(
            "SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM gitmem.entries WHERE blob = blobs.id))"
            " FROM gitmem.blobs"
        ).fetchone()
        blobs, unused = counted
        measured: Any = database.execute(_SIZES, (list(_TABLES),)).fetchall()
        sizes = dict(measured)
    servers: Any = database.execute("SELECT * FROM gitmem.check_servers()").fetchall()
    shares = [Share(*row) for row in servers]
    return DatabaseStatus(len(MIGRATIONS), server, role, repositories, heads, chunks, blobs, unused, sizes, shares)


_SIZES: Final = """
SELECT name, coalesce((SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_partition_tree(own)),
  pg_total_relation_size(own))
FROM unnest(%s::text[]) name, LATERAL (SELECT ('gitmem.' || name)::regclass AS own) tables
"""


def drop_repository(database: "Database", repository: str, revision: str = "") -> int:
    """Remove a repository or one of its revisions, and free the blobs that no other has; return their number.

    Raises: UsageError for an unknown name, DatabaseFailed if it is removed, and contents on another server are not.
    """
    require_version(database)
    row = database.execute("SELECT id FROM gitmem.repositories WHERE name = %s FOR UPDATE", (repository,)).fetchone()
    if row is None:
        raise UsageError(f"no repository `{repository}` is published", hint="gitmem org repos")
    if not revision:
        database.execute("DELETE FROM gitmem.repositories WHERE id = %s", row)
    elif not database.execute(
        "DELETE FROM gitmem.heads WHERE repository = %s AND revision = %s", (row[0], revision)
    ).rowcount:
        raise UsageError(f"`{repository}` has no revision `{revision}`", hint="gitmem org repos")
    else:
        # The newest of the others becomes the revision that queries search.
        database.execute(_CHOOSE_DEFAULT, {"repository": row[0]})
    database.commit()
    try:
        with database_errors():
            return release_blobs(database, wait=True) or 0
    except DatabaseFailed as problem:
        hint = "the next `gitmem org drop`, of any repository, removes them"
        raise DatabaseFailed(
            f"dropped `{repository}`, but contents of it are still stored: {problem.message}", hint=hint
        ) from problem


_CHOOSE_DEFAULT: Final = """
UPDATE gitmem.heads SET is_default = true WHERE id = (
  SELECT id FROM gitmem.heads WHERE repository = %(repository)s ORDER BY published DESC LIMIT 1)
AND NOT EXISTS (SELECT FROM gitmem.heads WHERE repository = %(repository)s AND is_default)
"""
