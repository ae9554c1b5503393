"""Select candidates in the engine: the blobs that are nearest by sign bits, and the best ones by words.

All statements run as the user's role, so row-level security has removed foreign rows before anything is counted:
document frequencies, too, are those of the rows that this role may read.
"""

# The candidates are blobs, because a file is scored as one document and needs all of its rows. By bits, the nearest
# `NEAR` blobs by their nearest row contain the nearest `NEAR` rows, exactly. By words, the sum of each term's impact in
# the best row is an upper bound of the score of any row (`term_keys`), so more blobs are taken.

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import DatabaseUnavailable
from gitmem.named_tuple import NamedTuple
from gitmem.org.blob_record import StoredBlob
from gitmem.org.filtered_blobs import BlobFilter
from gitmem.org.term_keys import CODE_IMPACTS, CODE_ROWS, hash_terms, path_hashes
from gitmem.search.candidate_rows import CANDIDATE_LIMIT
from gitmem.search.lexical import FILE_WEIGHTS
from gitmem.search.path_roles import ROLES
from gitmem.search.scope import Corpus, TermCounts
from gitmem.words import count_identifiers, terms_of

if TYPE_CHECKING:
    from gitmem.org.connection import Database

NEAR: Final = CANDIDATE_LIMIT + 10
BY_WORDS: Final = 240

ALL: Final = "*"


class VisibleHead(NamedTuple):
    """Head of a repository that the role may read, with the fingerprint of the rows. `contents` are different files."""

    head: int
    repository: str
    revision: str
    commit: str | None
    tree: str
    fingerprint: str
    dimensions: int
    files: int
    contents: int
    chunks: int
    words: int
    roles: Mapping[str, int]


class CandidatePath(NamedTuple):
    """Path of a candidate blob, and the position of its head."""

    head: int
    path: bytes
    blob: int


class WordMatches(NamedTuple):
    """Number of rows and files with each term, and the best blobs by words, in no order."""

    counts: dict[str, TermCounts]
    blobs: list[int]


_HEADS: Final = """
SELECT (head).id, name, (head).revision, (head).commit, (head).tree, fingerprint, dimensions, (head).files,
  (head).contents, (head).chunks, (head).words, (head).roles
FROM gitmem.visible_heads(CASE WHEN %(all)s THEN NULL ELSE %(names)s::text[] END)
  JOIN gitmem.visible_producers() producers ON producers.id = (head).producer
WHERE CASE WHEN %(revision)s = '' THEN (head).is_default ELSE (head).revision = %(revision)s END
ORDER BY name
"""

_NEAR: Final = """
SELECT blob FROM gitmem.near_blobs(%(heads)s, %(bits)s::text::bit varying, %(limit)s, %(parts)s::int[],
  %(passing)s::text[]::bit varying[])
"""

_WORDS: Final = """
WITH matches AS MATERIALIZED (
  SELECT wanted.term, code.impact, code.rows, found.blob FROM gitmem.term_blobs(%(heads)s, %(hashes)s) found
  JOIN unnest(%(hashes)s::bigint[], %(terms)s::int[]) wanted (hash, term) USING (hash)
  JOIN unnest(%(impacts)s::float8[], %(rows)s::float8[]) WITH ORDINALITY code (impact, rows, number)
    ON code.number = found.code + 1),
paths AS MATERIALIZED (
  SELECT wanted.term, found.blob, max(wanted.impact) AS impact
  FROM gitmem.path_blobs(%(heads)s, %(path_keys)s) found
  JOIN unnest(%(path_keys)s::int[], %(path_terms)s::int[], %(path_impacts)s::float8[])
    wanted (key, term, impact) USING (key)
  GROUP BY wanted.term, found.blob),
counts AS (SELECT term, round(sum(rows)) AS rows, count(*) AS files FROM matches GROUP BY term
  UNION ALL SELECT term, sum(chunks), count(*) FROM paths JOIN gitmem.blobs ON blobs.id = paths.blob
  WHERE term NOT IN (SELECT term FROM matches) GROUP BY term),
weights AS (SELECT counts.*, ln(1 + greatest(0, %(total)s - rows + 0.5) / (rows + 0.5)) * given.weight AS idf
  FROM counts JOIN unnest(%(weights)s::float8[]) WITH ORDINALITY given (weight, number) ON given.number = term + 1),
sums AS (SELECT term, blob, least(sum(impact), 2.2) AS impact
  FROM (SELECT term, blob, impact FROM matches UNION ALL SELECT term, blob, impact FROM paths) fields
  GROUP BY term, blob),
scores AS MATERIALIZED (
  SELECT blob, sum(idf * impact) AS score FROM sums JOIN weights USING (term) GROUP BY blob),
best AS ((SELECT blob FROM scores ORDER BY score DESC, blob LIMIT %(limit)s)
  UNION (SELECT blob FROM scores WHERE EXISTS (SELECT
      FROM unnest(%(parts)s::int[], %(passing)s::text[]::bit varying[]) filter (part, bits)
      WHERE part = blob >> 13 AND get_bit(bits, (blob & 8191)::int) = 1)
    ORDER BY score DESC, blob LIMIT %(limit)s))
SELECT term::bigint, rows::bigint, files::bigint FROM weights UNION ALL SELECT NULL, blob, NULL FROM best
"""

_BLOBS: Final = """
SELECT id, oid, language, parsed_language, outcome, record FROM gitmem.visible_records(%s) ORDER BY id
"""
_PATHS: Final = """
SELECT head, path, blob FROM gitmem.visible_paths(%s, %s) ORDER BY head, path
"""


def find_heads(database: "Database", names: Sequence[str], revision: str) -> list[VisibleHead]:
    """Return the heads that the role may read, of some repositories or of all (`*`)."""
    # PostgreSQL takes no such text, so nothing there has that name.
    known = [name for name in names if _is_text(name)]
    if not known or not _is_text(revision):
        return []
    parameters = {"all": ALL in known, "names": [name for name in known if name != ALL], "revision": revision}
    return [VisibleHead(*row) for row in database.execute(_HEADS, parameters).fetchall()]  # type: ignore[arg-type]


def _is_text(value: str) -> bool:
    """Return whether a value is UTF-8 without NUL; arguments of the command line may be any bytes."""
    return "\0" not in value and value == value.encode("utf-8", "replace").decode()


_COUNTED: Final = (attrgetter("chunks"), attrgetter("contents"), attrgetter("words"))


def corpus_of(heads: Sequence[VisibleHead]) -> Corpus:
    """Return the statistics of some heads together."""
    files = sum(head.files for head in heads)
    shares = {role: sum(head.roles.get(role, 0) for head in heads) / max(files, 1) for role in ROLES}
    chunks, contents, words = (sum(map(get, heads)) for get in _COUNTED)
    return Corpus(chunks, contents, words, shares)


def find_near_blobs(
    database: "Database", heads: Sequence[int], vector: NDArray[np.float32], passing: BlobFilter | None
) -> list[int]:
    """Return the blobs whose nearest rows are nearest to a vector, by the signs of its components."""
    bits = "".join("1" if component > 0 else "0" for component in vector.tolist())
    parameters = {"bits": bits, "heads": list(heads), "limit": NEAR, **_filter_parameters(passing)}
    rows = database.execute(_NEAR, parameters).fetchall()
    return [int(str(row[0])) for row in rows]


def _filter_parameters(passing: BlobFilter | None) -> dict[str, object]:
    return {"parts": passing and passing.parts, "passing": passing and passing.bits}


def match_words(
    database: "Database",
    heads: Sequence[VisibleHead],
    terms: Sequence[str],
    weights: Mapping[str, float] | None,
    passing: BlobFilter | None,
) -> WordMatches:
    """Count the terms of a query, and return the blobs with the highest bounds of the lexical score.

    With a filter these are the best ones altogether, and the best ones that pass. It changes no count, so scores do not
    depend on it.
    """
    encoded = [term.encode("utf-8", "replace") for term in terms]
    # The words of a path count in the field of their own, see `term_keys.path_keys`.
    paths = [(int(code) << 1 | is_stem, number, FILE_WEIGHTS.stem if is_stem else FILE_WEIGHTS.folder)
             for number, code in enumerate(path_hashes(encoded).tolist()) for is_stem in (0, 1)]  # fmt: skip
    rows = database.execute(
        _WORDS,
        {
            "heads": [head.head for head in heads],
            "hashes": hash_terms(encoded).tolist(),
            "terms": list(range(len(terms))),
            "impacts": list(CODE_IMPACTS),
            "rows": list(CODE_ROWS),
            "path_keys": [key for key, _, _ in paths],
            "path_terms": [number for _, number, _ in paths],
            "path_impacts": [weight * 2.2 / (weight + 1.2) for _, _, weight in paths],
            "weights": [weights[term] if weights else 1.0 for term in terms],
            "total": sum(head.chunks for head in heads),
            "limit": BY_WORDS,
            **_filter_parameters(passing),
        },
    ).fetchall()
    counts = dict.fromkeys(terms, TermCounts(0, 0))
    blobs = []
    for term, first, second in rows:
        if term is None:
            blobs.append(int(str(first)))
        else:
            counts[terms[int(str(term))]] = TermCounts(int(str(first)), int(str(second)))
    return WordMatches(counts, blobs)


def read_blobs(database: "Database", blobs: Sequence[int]) -> list[StoredBlob]:
    """Return the rows of some blobs. Raises DatabaseUnavailable if another server has freed some in the meantime."""
    rows = database.execute(_BLOBS, (list(blobs),)).fetchall()
    if len(rows) != len(blobs):
        raise contents_freed()
    return [StoredBlob(*row) for row in rows]  # type: ignore[arg-type]


def contents_freed() -> DatabaseUnavailable:
    """Return the error of a search whose candidates another server has freed since it began."""
    return DatabaseUnavailable("contents were freed during the search", hint="try again")


def read_paths(database: "Database", heads: Sequence[int], blobs: Sequence[int]) -> list[CandidatePath]:
    """Return the paths of some blobs in some heads, sorted by head and path."""
    rows = database.execute(_PATHS, (list(heads), list(blobs))).fetchall()
    return [CandidatePath(*row) for row in rows]  # type: ignore[arg-type]


def words_of(name: str) -> set[str]:
    """Return the words of the name of a repository, as the index has them."""
    return {term for identifier in count_identifiers(name).identifiers for term in terms_of(identifier)}
