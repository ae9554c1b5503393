"""Publish one revision of a repository: the blobs that the server lacks, then its paths in one transaction.

Blobs that no head refers to are visible to nobody. So a publisher may be killed at any time: readers see the old head
until the new one is complete, and the next publisher uses the blobs that are there already.
"""

# A shared lock of the session protects blobs that are stored, but not referred to yet, from `release_blobs`, which
# takes the same lock exclusively. The server frees it with the connection, whatever becomes of the process.

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.arrays import NDArray
from gitmem.display import count
from gitmem.errors import DatabaseFailed, GitmemError, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.path_encoding import path_text
from gitmem.memory.kinds import CODE
from gitmem.named_tuple import NamedTuple
from gitmem.org.blob_upload import find_lacking, upload_blobs
from gitmem.org.migrations import require_version
from gitmem.org.partitions import find_lost, remove_contents
from gitmem.org.publisher_lock import BLOB_LOCK
from gitmem.org.term_keys import path_keys
from gitmem.search.path_roles import ROLES, path_role
from gitmem.store.path_postings import path_postings
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.org.connection import Database


class PublishedHead(NamedTuple):
    """Result of a publication. `blobs`, `chunks` and `bytes` are those that the server lacked."""

    repository: str
    revision: str
    commit: str | None
    files: int
    blobs: int
    chunks: int
    bytes: int
    removed: int
    is_changed: bool


class _Entry(NamedTuple):
    path: bytes
    oid: bytes
    language: str
    words: list[int]


class _Tree(NamedTuple):
    """Files of a tree with rows, and the number of the blob of each in the open index, [entries].

    `chunks`, `words` and `contents` count each blob once, as the statistics of a search do.
    """

    entries: list[_Entry]
    blobs: NDArray[np.int64]
    contents: int
    chunks: int
    words: int
    roles: Mapping[str, float]


def publish_head(
    workspace: Workspace, database: "Database", repository: str, rev: str, alias: str, *, is_default: bool
) -> PublishedHead:
    """Publish a revision. Blobs that the index lacks are indexed first, none is embedded twice.

    On the server it is named `alias`, else as the user named it, else like the current branch.

    Raises: UsageError, UnknownRevision, NoIndex, DamagedFile, DatabaseFailed, GitmemError if it cannot be indexed.
    """
    require_version(database)
    database.commit()  # indexing may take longer than the server lets a transaction idle
    searcher = open_searcher(workspace, TreeSelection(rev or "HEAD"), (CODE,))
    _require_indexed(searcher)
    tree = _read_tree(searcher)
    database.execute("SELECT pg_advisory_lock_shared(%s)", (BLOB_LOCK,))
    producer = _enter_producer(database, searcher)
    added = upload_tree(database, searcher, tree, producer)
    tip = searcher.tree.revision
    revision = alias or rev or tip.branch or "HEAD"
    head = PublishedHead(repository, revision, tip.commit, len(tree.entries), *added, removed=0, is_changed=True)
    removed, is_changed = _replace_head(database, head, tip.tree, tree, producer, is_default=is_default)
    database.execute("SELECT pg_advisory_unlock_shared(%s)", (BLOB_LOCK,))
    database.commit()
    # Also those of a publication that lost its connection at the end, or that had others beside it.
    if database.execute("SELECT EXISTS (SELECT FROM gitmem.replaced)").fetchone() == (True,):
        release_blobs(database, wait=False, only_replaced=True)
    return head._replace(removed=removed, is_changed=is_changed)


def _require_indexed(searcher: Searcher) -> None:
    """Raise GitmemError if indexing was stopped, or failed. A search would go on with an incomplete index."""
    if searcher.missing_files:
        reasons = "; ".join(searcher.take_notes()) or "indexing was stopped"
        raise GitmemError(f"{count(searcher.missing_files, 'file')} not indexed: {reasons}", hint="gitmem index")


def _read_tree(searcher: Searcher) -> _Tree:
    scope = searcher.scopes.code()
    places = np.flatnonzero(scope.has_rows | _has_rows(searcher, scope.blob_of))
    if not len(places):
        raise UsageError("this revision has no files with text to search", hint="gitmem status")
    view, snapshot = searcher.view, searcher.snapshot
    paths = [view.path(place) for place in places.tolist()]
    blobs = scope.blob_of[places]
    postings = path_postings(paths, np.ones(len(paths), bool))
    words: list[dict[str, list[bytes]]] = [{"stem": [], "folder": []} for _ in paths]
    for field, own in postings.items():
        for term, place in zip(own.term.tolist(), own.row.tolist(), strict=True):
            words[place][field].append(own.terms[term])
    entries = []
    for path, blob, named in zip(paths, blobs.tolist(), words, strict=True):
        segment, number = snapshot.blob(blob)
        language = segment.languages[int(segment.asked[number])]
        entries.append(_Entry(path, segment.oids[number].tobytes(), language, path_keys(**named)))
    distinct, first = np.unique(blobs, return_index=True)
    chunks = int(np.diff(snapshot.blob_first)[distinct].sum())
    counts = scope.file_word_counts[places][first]
    role_of = [path_role(path_text(path)) for path in paths]
    roles = {role: role_of.count(role) for role in ROLES}
    return _Tree(entries, blobs, len(distinct), chunks, int(counts.sum()), roles)


def _has_rows(searcher: Searcher, blob_of: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which entries have a blob with rows: further paths of a blob are entries, too."""
    sizes = np.append(np.diff(searcher.snapshot.blob_first), 0)
    indexed: NDArray[np.bool_] = (blob_of >= 0) & (sizes[np.maximum(blob_of, -1)] > 0)
    return indexed


def _enter_producer(database: "Database", searcher: Searcher) -> int:
    """Return the number of the chunker and model of an index."""
    fingerprint = searcher.snapshot.manifest.fingerprint
    database.execute(
        "INSERT INTO gitmem.producers (fingerprint, dimensions) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (fingerprint, searcher.snapshot.dimensions),
    )
    row = database.execute("SELECT id FROM gitmem.producers WHERE fingerprint = %s", (fingerprint,)).fetchone()
    database.commit()
    assert row is not None, "the producer was entered"
    return int(str(row[0]))


def upload_tree(database: "Database", searcher: Searcher, tree: _Tree, producer: int) -> tuple[int, int, int]:
    """Store the blobs that the server lacks; return the numbers of blobs, chunks and bytes."""
    keys = {(entry.oid, entry.language): blob for entry, blob in zip(tree.entries, tree.blobs.tolist(), strict=True)}
    lacking = find_lacking(database, list(keys), producer)
    return upload_blobs(database, searcher, sorted(keys[key] for key in lacking), producer)


def _replace_head(
    database: "Database", published: PublishedHead, tree_id: str, tree: _Tree, producer: int, *, is_default: bool
) -> tuple[int, bool]:
    """Make the tree visible at once; return the number of removed paths, and whether anything changed."""
    database.execute(
        "INSERT INTO gitmem.repositories (name) VALUES (%s) ON CONFLICT DO NOTHING", (published.repository,)
    )
    # The lock of the row puts two publishers of one repository in order: the later one wins, as with `git push -f`.
    row = database.execute(
        "SELECT id FROM gitmem.repositories WHERE name = %s FOR UPDATE", (published.repository,)
    ).fetchone()
    assert row is not None, "the repository was entered"
    head, is_new_tree = enter_head(
        database, int(str(row[0])), published, tree_id, tree, producer, is_default=is_default
    )
    if not is_new_tree:
        database.commit()
        return 0, False
    database.execute(
        "CREATE TEMP TABLE IF NOT EXISTS staged_entries (path bytea, oid bytea, language text, words int4[])"
        " ON COMMIT DELETE ROWS"
    )
    with database.cursor().copy("COPY staged_entries FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types("bytea bytea text int4[]".split())
        for entry in tree.entries:
            copy.write_row(entry)
    database.execute("ANALYZE staged_entries")
    parameters = {"head": head, "producer": producer}
    removed = database.execute(_REMOVE_ENTRIES, parameters).rowcount
    database.execute(_ADD_ENTRIES, parameters)
    row = database.execute("SELECT count(*) FROM gitmem.entries WHERE head = %s", (head,)).fetchone()
    if row != (len(tree.entries),):
        database.rollback()
        raise DatabaseFailed(f"blobs of `{published.repository}` were removed meanwhile", hint="publish again")
    database.execute("SELECT gitmem.enter_parts(%(head)s)", parameters)
    database.commit()
    return removed, True


_REMOVE_ENTRIES: Final = """
WITH removed AS (
  DELETE FROM gitmem.entries WHERE head = %(head)s AND NOT EXISTS (
    SELECT FROM staged_entries staged JOIN gitmem.blobs
      ON blobs.oid = staged.oid AND blobs.language = staged.language AND blobs.producer = %(producer)s
    WHERE staged.path = entries.path AND blobs.id = entries.blob)
  RETURNING blob)
INSERT INTO gitmem.replaced (blob) SELECT blob FROM removed
"""
_ADD_ENTRIES: Final = """
INSERT INTO gitmem.entries (head, path, blob, words)
SELECT %(head)s, staged.path, blobs.id, staged.words FROM staged_entries staged JOIN gitmem.blobs
  ON blobs.oid = staged.oid AND blobs.language = staged.language AND blobs.producer = %(producer)s
ON CONFLICT DO NOTHING
"""


def enter_head(
    database: "Database", repository: int, published: PublishedHead, tree_id: str, tree: _Tree, producer: int,
    *, is_default: bool,
) -> tuple[int, bool]:  # fmt: skip
    """Write the row of the head; return its number, and whether its entries must be written."""
    known = database.execute(
        "SELECT tree, producer FROM gitmem.heads WHERE repository = %s AND revision = %s",
        (repository, published.revision),
    ).fetchone()
    if is_default:
        database.execute("UPDATE gitmem.heads SET is_default = false WHERE repository = %s AND revision <> %s",
                         (repository, published.revision))  # fmt: skip
    row = database.execute(
        _ENTER_HEAD,
        {
            "repository": repository, "revision": published.revision, "default": is_default,
            "commit": published.commit, "tree": tree_id, "producer": producer, "files": len(tree.entries),
            "contents": tree.contents, "chunks": tree.chunks, "words": tree.words,
            "roles": json.dumps(dict(tree.roles)),
        },
    ).fetchone()  # fmt: skip
    assert row is not None, "the head was entered"
    return int(str(row[0])), known != (tree_id, producer)


_ENTER_HEAD: Final = """
INSERT INTO gitmem.heads (repository, revision, is_default, commit, tree, producer, files, contents, chunks,
  words, roles, published)
VALUES (%(repository)s, %(revision)s,
  %(default)s OR NOT EXISTS (SELECT FROM gitmem.heads WHERE repository = %(repository)s AND is_default),
  %(commit)s, %(tree)s, %(producer)s, %(files)s, %(contents)s, %(chunks)s, %(words)s, %(roles)s, now())
ON CONFLICT (repository, revision) DO UPDATE SET is_default = heads.is_default OR %(default)s,
  commit = excluded.commit, tree = excluded.tree, producer = excluded.producer, files = excluded.files,
  contents = excluded.contents, chunks = excluded.chunks, words = excluded.words,
  roles = excluded.roles, published = excluded.published
RETURNING id
"""


_RELEASE: Final = """
WITH replaced AS (DELETE FROM gitmem.replaced RETURNING blob)
DELETE FROM gitmem.blobs WHERE (NOT %s OR id IN (SELECT blob FROM replaced))
  AND NOT EXISTS (SELECT FROM gitmem.entries WHERE entries.blob = blobs.id)
RETURNING id
"""


_RELEASE_RUNS: Final = """
DELETE FROM gitmem.runs WHERE NOT EXISTS (SELECT FROM gitmem.blobs
  WHERE blobs.id >= runs.part::bigint << 13 AND blobs.id < (runs.part + 1)::bigint << 13)
RETURNING id
"""


def release_blobs(database: "Database", *, wait: bool, only_replaced: bool = False) -> int | None:
    """Delete the blobs that no head refers to, of all or of those that heads have lost; return their number.

    Returns None if publishers are at work and `wait` is off. A later call deletes the rest.
    """
    if wait:
        database.execute("SELECT pg_advisory_lock(%s)", (BLOB_LOCK,))
    else:
        row = database.execute("SELECT pg_try_advisory_lock(%s)", (BLOB_LOCK,)).fetchone()
        if row is None or not row[0]:
            database.commit()
            return None
    # In the statement after the lock, so that it sees the heads that were published while this waited.
    database.commit()
    freed: Any = database.execute(_RELEASE, (only_replaced,)).fetchall()
    runs: Any = database.execute(_RELEASE_RUNS).fetchall()
    # A publisher that gets the lock must not see blobs whose removal is not committed yet.
    database.commit()
    remove_contents(database, [row[0] for row in freed], [row[0] for row in runs])
    if not only_replaced:
        remove_contents(database, *find_lost(database))
    database.execute("SELECT pg_advisory_unlock(%s)", (BLOB_LOCK,))
    database.commit()
    return len(freed)
