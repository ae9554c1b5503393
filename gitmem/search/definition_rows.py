"""Find the rows that define a name of the query. If no retriever finds one, they are candidates nonetheless.

A class that everything mentions has a common name, and hundreds of rows repeat it more often than its definition does.
Of a member (`Call.execute`) many classes may have one.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, distinct, is_among
from gitmem.search.lexical import LexicalQuery
from gitmem.search.parsed_query import Name, ParsedQuery, spelled_names
from gitmem.search.qualified_names import TYPES, defines_own_name, fold, last_parts, qualified_names
from gitmem.search.scope import Scope
from gitmem.search.spoken_names import SpokenName
from gitmem.search.stop_words import STOP_WORDS
from gitmem.search.term_postings import FieldPostings, find_symbols
from gitmem.types import CHUNK_TYPES
from gitmem.words import terms_of

MAX_ROWS: Final = 2_000
"""Rows whose symbols are read for one query."""

MAX_DEFINITIONS: Final = 20
"""Definitions of one name. More of them, as of `fit` or `main`, do not say which is meant, unless case or kind do."""

MAX_SPOKEN: Final = 500
"""Rows whose symbols are read for one name that a query may say in words: most such names do not exist."""

MAX_RECENT: Final = 4096
"""Names whose definitions a scope of many segments keeps: reading the symbols takes as long as the rest of a search."""


def find_definitions(query: ParsedQuery, lexical: LexicalQuery) -> list[NDArray[np.int64]]:
    """Return for names of the query the rows in scope that define them, ascending."""
    found, qualified = _find_members(query, lexical)
    others = [name for name in query.names if name not in qualified]
    # A field or an abstract method may have no row of its own; then that of its class is meant.
    classes = [name[:-1] for name in others if query.coded and len(name) > 1]
    wanted = _names_by_term([*others, *classes])
    read = 0
    # The rarest names first: they are the most specific, and cheap.
    for term in sorted(lexical.terms, key=lambda term: len(term.postings.symbol)):
        rows = term.postings.symbol.rows
        if term.name not in wanted or not len(rows):
            continue
        read += len(rows)
        if read > MAX_ROWS:
            break
        for name in wanted[term.name]:
            own = _find_defining(lexical.scope, (name,), rows)
            if len(own) > MAX_DEFINITIONS:
                own = _most_likely(lexical.scope, own, spelled_names(query))
            if 0 < len(own) <= MAX_DEFINITIONS:
                found.append(np.array(own, np.int64))
    return found


def find_spoken(query: ParsedQuery, lexical: LexicalQuery) -> list[tuple[SpokenName, list[int]]]:
    """Return the names that the query says in words, each with the rows in scope that define it."""
    postings = {term.name: term.postings.symbol for term in lexical.terms}
    found: list[tuple[SpokenName, list[int]]] = []
    for spoken in query.spoken:
        if found and spoken.distance > found[0][0].distance:
            break
        # The index has identifiers whole, but not names with hyphens.
        rows = find_symbols(lexical.scope, spoken.name).rows
        if not len(rows):
            rows = _rows_with_words(postings, spoken.words)
        own = _find_defining(lexical.scope, (spoken.name,), rows) if 0 < len(rows) <= MAX_SPOKEN else []
        if 0 < len(own) <= MAX_DEFINITIONS:
            found.append((spoken, own))
    return found


def _rows_with_words(postings: Mapping[str, FieldPostings], words: Iterable[str]) -> NDArray[np.int32]:
    """Return the rows with all of some words in their symbols, apart from stop words; none if a word has too many."""
    fields = []
    for word in words:
        if word not in STOP_WORDS:
            own = [postings[term] for term in terms_of(word) if term in postings]
            fields.append(min(own, key=len, default=FieldPostings(())))
    fields.sort(key=len)
    if not fields or len(fields[0]) > MAX_ROWS:
        return np.zeros(0, np.int32)
    rows = fields[0].rows
    for field in fields[1:]:
        _, holds = field.find(rows)
        rows = rows[holds]
    return rows


def _find_members(query: ParsedQuery, lexical: LexicalQuery) -> tuple[list[NDArray[np.int64]], set[Name]]:
    """Return the rows that define members of classes as the query qualifies them (`Call.execute`), and these names."""
    groups, names = [], set()
    postings = {term.name: term.postings.symbol for term in lexical.terms}
    for name in query.names:
        if len(name) < 2:
            continue
        # Rows whose symbols have both words are few, even if each of them is in thousands.
        own, around = (_rows_with_name(postings, part) for part in (name[-1], name[-2]))
        both = own[is_among(own, around)]
        if not 0 < len(both) <= MAX_ROWS:
            continue
        members = _find_defining(lexical.scope, tuple(map(fold, name)), both)
        if 0 < len(members) <= MAX_DEFINITIONS:
            groups.append(np.array(members, np.int64))
            names.add(name)
    return groups, names


def _rows_with_name(postings: Mapping[str, FieldPostings], name: str) -> NDArray[np.int32]:
    """Return the rows with a name in their symbols, ascending."""
    rows = [postings[term].rows for term in _terms_of_name(fold(name)) if term in postings]
    return distinct(np.concatenate([np.zeros(0, np.int32), *rows]))


def _names_by_term(names: Iterable[Name]) -> dict[str, list[str]]:
    """Return the last parts of names by the term under which the index has them: `registry` by its stem `registri`."""
    wanted: dict[str, list[str]] = {}
    for name in dict.fromkeys(fold(each[-1]) for each in names):
        for term in _terms_of_name(name):
            wanted.setdefault(term, []).append(name)
    return wanted


def _terms_of_name(name: str) -> list[str]:
    """Return the terms under which the index may have a name without underscores."""
    stems = terms_of(name)
    # Of a name of several parts only the whole is looked up: each part has far more rows.
    return list(dict.fromkeys((*stems, name) if len(stems) == 1 else (name,)))


def _find_defining(scope: Scope, name: Name, rows: NDArray[np.int32]) -> list[int]:
    """Return those of the rows that are in scope and define a name, qualified or not, given without underscores."""
    recent = scope.recent_definitions
    if recent is not None and name in recent:
        return recent[name]
    inside = rows[scope.entry_of.take(rows) >= 0].astype(np.int64)
    snapshot = scope.snapshot
    columns = (inside.tolist(), snapshot.symbols(inside), snapshot.gather(("kind",), inside)["kind"].tolist())
    own = []
    last = name[-1]
    for row, symbol, kind in zip(*columns, strict=True):
        # Two cheap tests rule out the many symbols that only share the stem, before the names are split and folded.
        folded = fold(symbol.lower())
        if last in folded and last in last_parts(folded) and _defines(symbol, kind, name):
            own.append(row)
    if recent is not None:
        if len(recent) >= MAX_RECENT:
            recent.clear()
        recent[name] = own
    return own


def _most_likely(scope: Scope, rows: list[int], names: frozenset[str]) -> list[int]:
    """Return those of the rows that define one of some names as it is spelled, without names the types among them.

    So `Chart` and `chart` mean the class, not the many variables of that name.
    """
    numbers = np.array(rows, np.int64)
    if not names:
        kinds = scope.snapshot.gather(("kind",), numbers)["kind"]
        return [row for row, kind in zip(rows, kinds.tolist(), strict=True) if CHUNK_TYPES[kind] in TYPES]
    symbols = scope.snapshot.symbols(numbers)
    return [
        row
        for row, symbol in zip(rows, symbols, strict=True)
        if not names.isdisjoint(parts[-1] for parts in qualified_names(symbol) if parts)
    ]


def _defines(symbol: str, chunk_type: int, name: Name) -> bool:
    """Return whether one of the qualified names of a symbol ends with a name. Qualified, a constructor has its own."""
    return any(
        tuple(fold(part.lower()) for part in parts[-len(name) :]) == name
        and (len(name) > 1 or defines_own_name(parts, chunk_type))
        for parts in qualified_names(symbol)
    )
