"""Store the runs of term lists on the server, and merge small ones."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.org.binary_copy import HEADER, TRAILER, encode_int4, encode_row
from gitmem.org.term_lists import (
    PART_BITS,
    PART_BLOBS,
    SMALL_POSTINGS,
    Postings,
    choose_scale,
    join_lists,
    pack_lists,
    split_parts,
)

if TYPE_CHECKING:
    from gitmem.org.connection import Database

_MOST_SMALL: Final = 8
"""Small runs of a part before they are merged: a search reads a row of each for every term."""

# No COPY goes into a table with row-level security.
_STAGED: Final = """
CREATE TEMP TABLE IF NOT EXISTS staged_lists (bucket int, terms smallint[], entries smallint[], highs smallint[])
  ON COMMIT DELETE ROWS;
TRUNCATE staged_lists
"""
_STORE_LISTS: Final = """
INSERT INTO gitmem.term_lists (run, part, bucket, terms, entries, highs)
SELECT %s, %s, bucket, terms, entries, highs FROM staged_lists
"""
_SMALL: Final = """
SELECT id FROM gitmem.runs WHERE part = %s AND postings < %s ORDER BY id FOR UPDATE
"""


def add_runs(
    database: "Database", blobs: NDArray[np.int64], hashes: NDArray[np.uint32], codes: NDArray[np.uint8]
) -> list[int]:
    """Store the terms of new blobs, given by number, in the transaction of the caller; return the runs that it merged.

    After that transaction, the lists of these runs can be removed.
    """
    merged = []
    for part, postings in split_parts(blobs, hashes, codes):
        _add_run(database, part, postings)
        merged += _merge_small(database, part)
    return merged


def _add_run(database: "Database", part: int, postings: Postings) -> None:
    row: Any = database.execute(
        "INSERT INTO gitmem.runs (part, scale, postings) VALUES (%s, %s, %s) RETURNING id",
        (part, choose_scale(len(postings.hashes)), len(postings.hashes)),
    ).fetchone()
    database.execute(_STAGED)
    with database.cursor().copy("COPY staged_lists FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(HEADER)
        for own in pack_lists(postings):
            copy.write(encode_row([encode_int4(own.bucket), own.terms, own.entries, own.highs]))
        copy.write(TRAILER)
    database.execute(_STORE_LISTS, (row[0], part))


def _merge_small(database: "Database", part: int) -> list[int]:
    """Replace the small runs of a part by one, if there are many; return them. Terms of blobs that are gone go, too."""
    runs: Any = database.execute(_SMALL, (part, SMALL_POSTINGS)).fetchall()
    if len(runs) < _MOST_SMALL:
        return []
    numbers = [row[0] for row in runs]
    lists: Any = database.execute(
        "SELECT terms, entries, highs FROM gitmem.term_lists WHERE run = ANY(%s)", (numbers,)
    ).fetchall()
    live: Any = database.execute(
        "SELECT coalesce(array_agg(id & %s), '{}') FROM gitmem.blobs WHERE id >= %s AND id < %s",
        (PART_BLOBS - 1, part << PART_BITS, (part + 1) << PART_BITS),
    ).fetchone()
    union = join_lists(lists, np.array(live[0], np.int64))
    database.execute("DELETE FROM gitmem.runs WHERE id = ANY(%s)", (numbers,))
    if len(union.hashes):
        _add_run(database, part, union)
    return numbers
