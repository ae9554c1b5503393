"""Nearest rows on a server: a graph of pgvector over sign bits compared with the scan, under row-level security.

Rows of a repository's index are stored one by one as `bit(256)`, as no table of gitmem has them. A policy hides a share
of them. Queries are rows of the same index, and the scan gives the answer that the graph should find.
"""

import argparse
import os
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.workspace import open_workspace
from tests.bench.database_server import DatabaseServer, start_server
from tests.bench.figures import Figure
from tests.bench.subjects import work_folder

DEPTH: Final = 10
LEAST_RECALL: Final = 0.95

_PREPARE: Final = """
CREATE EXTENSION vector;
CREATE TABLE rows (id int PRIMARY KEY, reader int NOT NULL, bits bit(256) NOT NULL);
CREATE ROLE somebody;
GRANT SELECT ON rows TO somebody;
ALTER TABLE rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON rows TO somebody USING (reader < current_setting('bench.shares')::int)
"""
_GRAPH: Final = "SELECT id FROM rows ORDER BY bits <~> %s::text::bit(256) LIMIT %s"
_SCAN: Final = "SELECT id FROM rows ORDER BY bit_count(bits # %s::text::bit(256)), id LIMIT %s"
_DISTANCES: Final = "SELECT bit_count(bits # %s::text::bit(256)) FROM rows WHERE id = ANY(%s) ORDER BY 1"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the repository and the number of rows."""
    parser.add_argument("--repo", type=Path, required=True, help="indexed repository, which is only read")
    parser.add_argument("--rows", type=int, default=100_000, help="number of rows")
    parser.add_argument("--queries", type=int, default=50, help="number of queries")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Build the graph, and run the queries with both, for roles that see all rows and a part of them."""
    bits = read_bits(options.repo, options.rows)
    with work_folder(options) as work, start_server(work / "postgres") as server, server.connect() as database:
        database.execute(_PREPARE)
        with database.cursor().copy("COPY rows FROM STDIN") as copy:
            for number, row in enumerate(bits):
                copy.write_row((number, number % 100, row))
        database.execute("SET maintenance_work_mem = '1GB'")
        began = server.cpu()
        database.execute("CREATE INDEX rows_graph ON rows USING hnsw (bits bit_hamming_ops)")
        built = server.cpu() - began
        database.execute("VACUUM ANALYZE rows")
        size = database.execute("SELECT pg_relation_size('rows_graph')").fetchone()[0]
        table = database.execute("SELECT pg_table_size('rows')").fetchone()[0]
        subject = f"{len(bits):,} rows"
        figures = [
            Figure(subject, "graph", built, "s CPU"),
            Figure(subject, "graph", size / len(bits), "bytes per row"),
            Figure(subject, "table of rows", table / len(bits), "bytes per row"),
        ]
        queries = [bits[number] for number in np.random.default_rng(1).integers(0, len(bits), options.queries)]
        for shares in (100, 10, 1):
            figures += compare(server, database, queries, shares, subject)
    return figures


def read_bits(repository: Path, count: int) -> list[str]:
    """Return the sign bits of some rows of an index."""
    searcher = open_searcher(open_workspace(repository, os.environ), TreeSelection("HEAD"), refresh=False)
    parts: list[NDArray[np.uint8]] = [bits for _, bits in searcher.snapshot.bits()]
    signs = np.unpackbits(np.concatenate(parts)[:count], axis=1) + ord("0")
    return [row.tobytes().decode() for row in signs]


def compare(server: DatabaseServer, database: Any, queries: Sequence[str], shares: int, subject: str) -> list[Figure]:
    """Return recall and cost for a role that sees so many hundredths of the rows."""
    database.execute("SET ROLE somebody")
    database.execute(f"SET bench.shares = {shares}")
    database.execute("SET hnsw.iterative_scan = strict_order")
    database.execute("SET hnsw.ef_search = 100")
    graph, graph_cost = run(server, queries, lambda text: database.execute(_GRAPH, (text, DEPTH)).fetchall())
    scan, scan_cost = run(server, queries, lambda text: database.execute(_SCAN, (text, DEPTH)).fetchall())

    def distances(text: str, rows: list[Any]) -> list[int]:
        ids = [row[0] for row in rows]
        return [row[0] for row in database.execute(_DISTANCES, (text, ids)).fetchall()]

    # Rows of equal distance are equally good, so a found row counts if it is as near as the last one of the scan.
    recall = []
    for text, found, expected in zip(queries, graph, scan, strict=True):
        limit = max(distances(text, expected), default=0)
        recall.append(sum(distance <= limit for distance in distances(text, found)) / max(1, len(expected)))
    database.execute("RESET ROLE")
    name = f"{shares} % of them visible"
    return [
        Figure(subject, f"{name}, graph, recall@{DEPTH}", statistics.mean(recall), at_least=LEAST_RECALL),
        Figure(subject, f"{name}, graph", graph_cost, "ms CPU"),
        Figure(subject, f"{name}, scan", scan_cost, "ms CPU"),
    ]


def run(server: DatabaseServer, queries: Sequence[str], search: Callable[[str], Any]) -> tuple[list[Any], float]:
    """Return the results of all queries, and the CPU milliseconds of the server for each."""
    search(queries[0])
    began = server.cpu()
    results = [search(text) for text in queries]
    return results, (server.cpu() - began) / len(queries) * 1000
