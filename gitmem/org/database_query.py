"""Answer a query from the repositories of an organisation: candidates of the server, ranked by the search engine."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gitmem.answering.answer import Answer, ViewState
from gitmem.answering.federated_answer import (
    FederatedAnswer,
    HitPosition,
    SearchedRepository,
    answer_of_none,
)
from gitmem.answering.federated_query import require_searched
from gitmem.answering.filter_rows import row_filters
from gitmem.answering.hit_text import HitLines, Piece
from gitmem.answering.query_encoder import query_encoder, search_or_words
from gitmem.answering.repository_ids import PUBLISHED
from gitmem.answering.repository_selection import SkippedRepository
from gitmem.answering.search_query import Query, check_query
from gitmem.arrays import NDArray
from gitmem.chunking.blob_text import text_of
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import COMMIT, TreeSelection
from gitmem.git.path_encoding import path_bytes
from gitmem.indexing.fingerprint import is_made_with, vectors_of
from gitmem.named_tuple import NamedTuple
from gitmem.org.blob_text import unpack_text
from gitmem.org.candidate_blobs import (
    ALL,
    VisibleHead,
    contents_freed,
    find_heads,
    find_near_blobs,
    match_words,
    read_blobs,
    read_paths,
)
from gitmem.org.candidate_index import CandidateIndex, CandidateView, open_candidates
from gitmem.org.filtered_blobs import find_passing
from gitmem.org.migrations import require_version
from gitmem.search.engine import SearchOptions, SearchResult, search
from gitmem.search.hits import Hit
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.query_parser import parse_query
from gitmem.search.retrieval import encode_query
from gitmem.search.scope import Filters
from gitmem.search.skeleton import find_inner_chunks, reduce_lines
from gitmem.search.snippet import lines_of_span
from gitmem.search.unit_choice import choose_units
from gitmem.secrets.masking import mask_private_keys
from gitmem.settings import Settings
from gitmem.types import REPOSITORY_END

if TYPE_CHECKING:
    from gitmem.org.connection import Database

_MARK: Final = REPOSITORY_END.decode() + "/"

HitText = tuple[Hit, list[str]]
"""Hit with its lines."""


class _Found(NamedTuple):
    """Result of a search, with the index of the candidates; None without candidates."""

    result: SearchResult
    candidates: CandidateIndex | None


_Texts = Mapping[tuple[str, str], bytes]
"""Text of each source of hits: blob and language."""


def answer_from_database(
    database: "Database", settings: Settings, names: Sequence[str], query: Query, revision: str = ""
) -> FederatedAnswer:
    """Answer like `search_database`, if the role may read all repositories that are named.

    Raises: as that, UsageError for another name, and NoIndex if none can be searched.
    """
    answer = search_database(database, settings, names, query, revision)
    unknown = [one for one in answer.skipped if one.reason == _lacking(one.name, revision)]
    if unknown and names != (ALL,):
        raise UsageError(unknown[0].reason, hint="gitmem org repos")
    return require_searched(answer)


def search_database(
    database: "Database",
    settings: Settings,
    names: Sequence[str],
    query: Query,
    revision: str = "",
    *,
    is_elsewhere: bool = False,
) -> FederatedAnswer:
    """Answer a query as the role of the connection, and name the repositories that cannot be searched.

    A name that is unknown and one that is hidden have the same reason. `is_elsewhere` if the user's own repository is
    searched as well, which has precedence. Raises: UsageError, DatabaseFailed, and others of another schema.
    """
    started = time.perf_counter()
    limit = check_query(query, TreeSelection("HEAD"), settings)
    require_version(database)
    # All statements see the same heads, whatever is published meanwhile.
    database.commit()
    database.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    found = find_heads(database, names, revision)
    heads, skipped = _choose_heads(found, settings)
    known = {head.repository for head in found}
    unknown = [PUBLISHED + name for name in names if name not in known and not (name == ALL and found)]
    skipped += [SkippedRepository(name, _lacking(name, revision)) for name in unknown]
    if not heads:
        database.commit()
        return answer_of_none(query, skipped)
    search_result = _search(database, heads, query, settings, limit, is_elsewhere=is_elsewhere)
    answers, order = _read_answers(database, heads, query, search_result, limit)
    database.commit()
    rejected = search_result.result.rejected
    return FederatedAnswer(
        query=query,
        order=order,
        answers=answers,
        searched=[
            SearchedRepository(PUBLISHED + head.repository, None, head.commit, head.tree, stale=False, missing=0)
            for head in heads
        ],
        skipped=skipped,
        stats={
            "chunks": sum(head.chunks for head in heads),
            "results": len(order),
            "below_min_score": rejected.number if rejected else 0,
            "query_time_ms": round((time.perf_counter() - started) * 1000, 1),
        },
        notes=list(search_result.result.notes),
        rejected=rejected,
        models=frozenset([vectors_of(heads[0].fingerprint)]),
    )


def _lacking(name: str, revision: str) -> str:
    """Return why a name is skipped that no visible repository has: it says nothing about hidden ones."""
    at = f" with the revision `{revision}`" if revision else ""
    own = name.removeprefix(PUBLISHED)
    if own == ALL:
        return f"no repository{at} that this role may read is published"
    return f"no repository `{own}`{at} that this role may read"


def _choose_heads(
    heads: Sequence[VisibleHead], settings: Settings
) -> tuple[list[VisibleHead], list[SkippedRepository]]:
    """Return the heads with rows of this version and model, and the others as skipped."""
    # The manifest of a provider's index names the dimensions, too: heads of one model share one fingerprint.
    usable = [head for head in heads if is_made_with(head.fingerprint, settings)]
    usable = [head for head in usable if head.fingerprint == usable[0].fingerprint]
    reason = "published by another version of gitmem or with another model; publish it again"
    skipped = [SkippedRepository(PUBLISHED + head.repository, reason) for head in heads if head not in usable]
    return usable, skipped


def _search(
    database: "Database", heads: Sequence[VisibleHead], query: Query, settings: Settings, limit: int, *,
    is_elsewhere: bool,
) -> _Found:  # fmt: skip
    encoder = query_encoder(settings, heads[0].fingerprint)
    parsed = parse_query(query.text.strip())
    candidates: CandidateIndex | None = None

    def run(mode: str) -> SearchResult:
        nonlocal candidates
        vector = None if mode == "lexical" else encode_query(parsed, encoder)
        candidates = _find_candidates(database, heads, parsed, vector, row_filters(query.filters))
        if candidates is None:
            return SearchResult(parsed.terms, [])
        if is_elsewhere:
            candidates.scope.whole.elsewhere = np.ones(len(candidates.view), bool)
        read_texts = partial(_read_texts, database, candidates.view)
        options = SearchOptions(mode, settings.fusion, read_texts=read_texts)
        return search([candidates.scope], parsed, encoder, limit=limit, options=options, min_score=query.least_score)

    return _Found(search_or_words(query.mode, run), candidates)


def _find_candidates(
    database: "Database",
    heads: Sequence[VisibleHead],
    query: ParsedQuery,
    vector: NDArray[np.float32] | None,
    filters: Filters,
) -> CandidateIndex | None:
    """Return the candidates of a query; None if nothing matches."""
    numbers = [head.head for head in heads]
    terms = list(dict.fromkeys((*query.terms, *query.compounds)))
    passing = find_passing(database, numbers, filters) if filters.any else None
    # A score contains how well the best candidates without filters match, so these are candidates in any case.
    matches = match_words(database, heads, terms, query.weights, passing)
    blobs = set(matches.blobs)
    for own in (None, passing) if passing else (None,):
        if vector is not None:
            blobs.update(find_near_blobs(database, numbers, vector, own))
    if not blobs:
        return None
    chosen = sorted(blobs)
    stored, places = read_blobs(database, chosen), read_paths(database, numbers, chosen)
    return open_candidates(heads, stored, places, matches.counts, filters)


def _read_answers(
    database: "Database", heads: Sequence[VisibleHead], query: Query, found: _Found, limit: int
) -> tuple[dict[int, Answer], list[HitPosition]]:
    """Return the answers of the repositories with hits, and the order of all hits."""
    result, candidates = found
    if candidates is None or not result.hits:
        return {}, []
    texts = _read_texts(database, candidates.view, result.hits)
    hits = choose_units(result.hits, texts, result.terms, limit, result.meaning, result.literal)
    lines = _cut_lines(texts, candidates, hits, result.terms)
    # Only the whole text shows that a chunk belongs to a key that began in an earlier chunk.
    safe_texts = {source: mask_private_keys(text) for source, text in texts.items()}
    hidden = _cut_lines(safe_texts, candidates, hits, result.terms)
    numbers = {head.repository: number for number, head in enumerate(heads)}
    places: dict[int, list[int]] = {}
    order = []
    for place, hit in enumerate(hits):
        own = places.setdefault(numbers[hit.path.partition(_MARK)[0]], [])
        order.append(HitPosition(numbers[hit.path.partition(_MARK)[0]], len(own)))
        own.append(place)
    answers = {}
    for number, own in places.items():
        named = [_own_hit(hits[place], heads[number].repository) for place in own]
        shown = [(hit, lines[place]) for hit, place in zip(named, own, strict=True)]
        masked = [(hit, hidden[place]) for hit, place in zip(named, own, strict=True)]
        answers[number] = _answer(query, heads[number], result.terms, shown, masked)
    return answers, order


def _answer(
    query: Query, head: VisibleHead, terms: tuple[str, ...], hits: list[HitText], masked: list[HitText]
) -> Answer:
    """Return the hits of one repository. It has no folder here, so nothing but its published rows is known of it."""
    beside: list[tuple[Piece | None, Piece | None]] = [(None, None) for _ in hits]
    return Answer(
        query=query,
        view=ViewState(
            rev=head.revision, commit=head.commit, tree=head.tree, branch=None, dirty=False, stale=False, missing=0,
            files=head.files, source=COMMIT, uncommitted=0,
        ),
        terms=terms,
        hits=hits,
        stats={},
        notes=[],
        changes={},
        files={},
        records={},
        adjacent=beside,
        code_notes=[[] for _ in hits],
        without_keys=None if masked == hits else HitLines(masked, beside),
    )  # fmt: skip


def _cut_lines(texts: _Texts, candidates: CandidateIndex, hits: Sequence[Hit], terms: Sequence[str]) -> list[list[str]]:
    """Return the lines of each hit; a class of many lines is reduced to its declarations."""
    entries = {path: entry for entry, path in enumerate(candidates.view.paths)}
    cut = []
    for hit in hits:
        blob = int(candidates.scope.blob_of[entries[path_bytes(hit.path)]])
        inner = find_inner_chunks(candidates.snapshot, blob, hit)
        cut.append(reduce_lines(lines_of_span(texts[hit.source], hit.start, hit.end), hit, inner, terms))
    return cut


def _own_hit(hit: Hit, repository: str) -> Hit:
    """Return a hit with paths as seen from its repository; copies elsewhere begin with the names of theirs."""

    def shorten(path: str) -> str:
        name, _, own = path.partition(_MARK)
        return own if name == repository else f"{PUBLISHED}{name}:{own}"

    copies = tuple(place._replace(path=shorten(place.path)) for place in hit.copies)
    return hit._replace(path=shorten(hit.path), copies=copies)


_TEXTS: Final = """
SELECT encode(oid, 'hex'), parsed_language, record, text FROM gitmem.visible_texts(%s)
"""


def _read_texts(database: "Database", view: CandidateView, hits: Sequence[Hit]) -> _Texts:
    """Return the text of the source of each hit. Raises DatabaseFailed."""
    oids = {hit.blob for hit in hits}
    numbers = {place.blob for entry, place in enumerate(view.places) if view.oid(entry) in oids}
    texts = {}
    rows: Any = database.execute(_TEXTS, (sorted(numbers),)).fetchall()
    if len(rows) != len(numbers):
        raise contents_freed()
    for oid, language, record, packed in rows:
        texts[oid, language] = text_of(unpack_text(packed, record), language)
    return texts
