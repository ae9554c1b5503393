"""Index real repositories with a fake model: a deterministic encoder, a pool without processes, and dumps that compare
the content of two indexes."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gitmem.answering.answer import Answer, answer
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds
from gitmem.embedding.encoder import STEP_TEXTS, Embeddings
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.identifier_counts import Bags
from gitmem.indexing.known_vectors import KnownVectors
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.row_builder import build_rows
from gitmem.indexing.stop_request import StopRequest
from gitmem.indexing.worker_protocol import Batch, BlobContent, BlobOutcome, KnownSegments, PackedRows
from gitmem.paths import INDEX_NAME, IndexPaths
from gitmem.store.columns import COLUMNS, OUTCOMES
from gitmem.store.manifest import find_manifest
from gitmem.store.snapshot import Snapshot
from gitmem.types import CHUNK_TYPES
from gitmem.words import Text
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo

DIMENSIONS: Final = 256


@lru_cache(maxsize=4096)
def vector_of(identifier: str) -> NDArray[np.float64]:
    """Return a fixed random vector; indexing the same words again and again, tests ask for few different ones."""
    return np.random.default_rng(zlib.crc32(identifier.encode())).standard_normal(DIMENSIONS)


class HashEncoder:
    """Encoder that adds up a fixed random vector for each identifier, and counts the texts it encodes."""

    fingerprint = "hash:1"
    dimensions = DIMENSIONS
    encoded = 0

    @property
    def names(self) -> "HashEncoder":
        return self

    def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        for place in range(0, texts.size, STEP_TEXTS):
            before_step()
            type(self).encoded += min(STEP_TEXTS, texts.size - place)
        counted = [Text("", {}) for _ in range(texts.size)]
        for bag, number, times in zip(*(column.tolist() for column in texts.counts), strict=True):
            word = texts.identifiers.names[number].decode()
            counted[bag].identifiers[word] = counted[bag].identifiers.get(word, 0) + times
        vectors = np.stack([self.encode_query(text) for text in counted] or [np.zeros(DIMENSIONS, np.float32)])
        return Embeddings(vectors[: texts.size], np.ones(texts.size, np.float32))

    def encode_names(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        vectors = [self.encode_query(text) for text in texts]
        return np.array(vectors, np.float32).reshape(len(texts), DIMENSIONS)

    def encode_query(self, text: Text) -> NDArray[np.float32]:
        total = np.zeros(DIMENSIONS)
        for identifier, times in sorted(text.identifiers.items()):
            total += times * vector_of(identifier.lower())
        length = float(np.linalg.norm(total)) or 1.0
        return (total / length).astype(np.float32)


class InlinePool:
    """Pool that builds rows in this process; a blob that contains `poison` fails as if its worker had died."""

    poison: bytes = b""
    digested: int = 0
    encoder: Any = HashEncoder()

    def __init__(
        self,
        workers: int,
        budget: MemoryBudget | None = None,
        known: KnownSegments | None = None,
        bounds: ChunkBounds = DEFAULT_BOUNDS,
        *,
        embeds: bool = True,
        languages: Iterable[str] = (),
    ) -> None:
        self.workers = workers
        self._own_encoder = self.encoder if embeds else None
        self.bounds = bounds
        self.known = KnownVectors(known)

    def run(self, batches: Iterable[Batch], stop: StopRequest | None = None) -> Iterator[list[PackedRows]]:
        check_stop = stop.check if stop else lambda: None
        for batch in batches:
            type(self).digested += len(batch)
            if self._poisoned(batch):
                yield [self._build(blob) for blob in batch]
            else:
                yield [build_rows(batch, self._own_encoder, self.bounds, check_stop, self.known)]

    def take_finished(self, *, wait: bool) -> Iterator[tuple[int, list[PackedRows]]]:
        """Return nothing: no batch is built before its predecessor was taken."""
        return iter(())

    def _poisoned(self, batch: Batch) -> bool:
        return bool(self.poison) and any(self.poison in blob.content for blob in batch)

    def _build(self, blob: BlobContent) -> PackedRows:
        if not self._poisoned([blob]):
            return build_rows([blob], self._own_encoder, self.bounds)
        return build_rows([], self._own_encoder)._replace(blobs=[BlobOutcome(blob.language, "failed", 0)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


def workspace_of(repo: Repo) -> Workspace:
    """Open the workspace of a repository."""
    return open_workspace(repo.path, {})


def index(repo: Repo, workspace: Workspace | None = None, **options: Any) -> IndexReport:
    """Index HEAD and return the report. A workspace that was opened before saves two processes of git.

    The options are the fields of RefreshSettings and the callbacks of `refresh`.
    """
    workspace = workspace or workspace_of(repo)
    callbacks = {name: options.pop(name) for name in ("report", "on_wait", "announce") if name in options}
    return refresh(workspace, workspace.location.head_tree, RefreshSettings(**options), **callbacks)


def search(repo: Repo, text: str, workspace: Workspace | None = None, **options: Any) -> Answer:
    """Answer a query. The options are the fields of Query, SearchFilters and TreeSelection, and `refresh`.

    A workspace that was opened before saves two processes of git.
    """
    refresh = options.pop("refresh", True)
    filters, selection = ({name: options.pop(name) for name in type_._fields if name in options} for type_ in PARTS)
    query = Query(text, filters=SearchFilters(**filters), **options)
    return answer(workspace or workspace_of(repo), query, TreeSelection(**selection), refresh=refresh)


PARTS: Final = (SearchFilters, TreeSelection)


def brief_hits(answer: Answer) -> list[tuple[str, int, int, str, float]]:
    """Return path, first line, last line, symbol and rounded score of each hit."""
    return [(hit.path, hit.start_line, hit.end_line, hit.symbol, round(hit.score, 2)) for hit, _ in answer.hits]


def snapshot_of(repo: Repo) -> Snapshot:
    """Open the index of a repository, without the checks of a command, which run git four times."""
    paths = paths_of(repo)
    manifest = find_manifest(paths.manifest)
    assert manifest is not None
    return Snapshot(paths, manifest)


def paths_of(repo: Repo) -> IndexPaths:
    """Return the paths of an index; of one in the working tree without asking git."""
    root = repo.path / INDEX_NAME
    return IndexPaths(root) if root.is_dir() else workspace_of(repo).paths


class DumpedRow(NamedTuple):
    """Content of an index for one chunk."""

    blob: str
    requested_language: str
    language: str
    span: tuple[int, int]
    lines: tuple[int, int]
    chunk_type: str
    symbol: str
    vector: bytes
    rest: tuple[float, ...]
    terms: tuple[tuple[str, bytes, int], ...]
    names: bytes
    """Record of the names in the whole blob."""


def dump_rows(snapshot: Snapshot) -> set[DumpedRow]:
    """Return the rows of all segments as one set, so that their distribution over segments makes no difference."""
    return {row for segment in snapshot.segments for row in dump_segment(segment)}


def dump_outcomes(snapshot: Snapshot) -> set[tuple[str, str, str]]:
    """Return blob id, requested language and outcome of each blob."""
    outcomes = set()
    for segment in snapshot.segments:
        blobs = segment.load_rows().blobs
        for (oid, requested_language), outcome in zip(blobs.keys, blobs.outcomes.tolist(), strict=True):
            outcomes.add((oid.hex(), requested_language, OUTCOMES[outcome]))
    return outcomes


def dump_segment(segment: Any) -> Iterator[DumpedRow]:
    """Yield all rows of one segment."""
    rows = segment.load_rows()
    terms: list[list[tuple[str, bytes, int]]] = [[] for _ in range(len(rows))]
    for field, postings in rows.postings.items():
        for term, row, count in zip(
            postings.term.tolist(), postings.row.tolist(), postings.frequency.tolist(), strict=True
        ):
            terms[row].append((field, postings.terms[term], count))
    columns = {name: rows.columns[name].tolist() for name in COLUMNS}
    first = rows.blobs.first.tolist()
    for blob, ((oid, requested_language), language) in enumerate(
        zip(rows.blobs.keys, rows.blobs.languages, strict=True)
    ):
        for row in range(first[blob], first[blob + 1]):
            yield DumpedRow(
                blob=oid.hex(),
                requested_language=requested_language,
                language=language,
                span=(columns["start"][row], columns["start"][row] + columns["length"][row]),
                lines=(columns["line"][row], columns["line"][row] + columns["lines"][row] - 1),
                chunk_type=CHUNK_TYPES[columns["kind"][row]],
                symbol=rows.labels[row].decode("utf-8", "backslashreplace"),
                vector=rows.vectors[row].tobytes(),
                rest=(columns["words"][row], columns["scale"][row], columns["norm"][row]),
                terms=tuple(sorted(terms[row])),
                names=rows.blobs.names[blob],
            )


def manifest_of(repo: Repo) -> Any:
    """Read the manifest from disk."""
    return find_manifest(paths_of(repo).manifest)


def files_in(folder: Any) -> list[Any]:
    """Return the files of a folder of the index in order."""
    return sorted(folder.iterdir())


def python_file(*names: str) -> str:
    """Return a Python file with one function for each name; each function has words of its own."""
    return "\n\n".join(
        f'def {name}(value):\n    """Handle {name.replace("_", " ")} of a value."""\n    return {name}_table[value]\n'
        for name in names
    )
