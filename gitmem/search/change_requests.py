"""Measure how surely a query asks for a change (`Fix the timeout of the client`) and not for code (`client timeout`).

The measure is a logistic regression on the form of a query: its first word, other words that name no subject, its
length and signs. Words for what the code is about have no weight, so it is the same in every repository. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.words import find_identifiers, stem

MIN_WORDS: Final = 3
"""Words from which on a query is a sentence and not a name (`update_user`, `update user`)."""

BIAS: Final = -0.1

FIRST_WORDS: Final[Mapping[str, float]] = {
    "fix": 3.8, "add": 3.0, "updat": 2.4, "remov": 2.1, "make": 1.5, "use": 1.5, "allow": 1.4, "improv": 1.1,
    "support": 1.0, "move": 0.7, "avoid": 0.3, "document": 0.3, "enabl": 0.3, "implement": 0.3, "don": 0.2,
    "refactor": 0.1, "return": -0.3, "a": -0.4, "the": -0.9, "how": -4.4,
}  # fmt: skip
"""Logits of the first word, by stem."""

OTHER_WORDS: Final[Mapping[str, float]] = {
    "fix": 1.5, "when": 1.2, "t": 0.9, "not": 0.8, "in": 0.7, "instead": 0.7, "now": 0.7, "on": 0.7, "warn": 0.6,
    "add": 0.4, "more": 0.4, "to": 0.4, "as": 0.2, "class": -0.2, "handl": -0.2, "that": -0.5, "for": -0.6,
    "given": -0.6, "an": -0.7, "the": -0.7, "this": -0.7, "or": -0.8, "a": -1.0, "and": -1.5,
}  # fmt: skip
"""Logits of a word behind the first, by stem; each counts once."""

FORMS: Final[Mapping[str, float]] = {
    "scope": 2.1, "capital": 0.6, "code": 0.6, "-ed": 0.4, "path": 0.3, "short": -1.1, "-ing": -1.4, "-s": -1.5,
    "question mark": -1.8,
}  # fmt: skip
"""Logits of the other features, see `iter_features`. All tables are fitted by `tests/bench/fit_request_words.py`."""

SURE: Final = 1.0
"""Logit from which on a query is certainly a request. Below 0 it is none."""

_SCOPE: Final = lazy_pattern(r"[^\s:]+(?: [^\s:]+)?: (?=\S)")
"""A part of the code that a subject of a commit begins with: `parser: accept tabs`."""

_CODE: Final = lazy_pattern(r"\w\(|_|[a-z][A-Z]|::|`")
_PATH: Final = lazy_pattern(r"[./]\w")

_TABLES: Final = {"first": FIRST_WORDS, "word": OTHER_WORDS, "form": FORMS}


def measure_request(query: str) -> float:
    """Return from 0 to 1 how surely a query of one line asks for a change."""
    if len(query.split(None, MIN_WORDS)) < MIN_WORDS:
        return 0.0
    logit = BIAS + sum(_TABLES[table].get(name, 0.0) for table, name in iter_features(query))
    return min(1.0, max(0.0, logit / SURE))


def iter_features(query: str) -> Iterator[tuple[str, str]]:
    """Yield the features of a query: the name of a table, and a key that the table may have."""
    scope = _SCOPE.match(query)
    if scope:
        yield "form", "scope"
    words = [word.lower() for word in find_identifiers(query[scope.end() :] if scope else query)]
    if words:
        yield "first", stem(words[0])
        yield from (("form", ending) for ending in ("-ed", "-ing", "-s") if words[0].endswith(ending[1:]))
    yield from (("word", word) for word in dict.fromkeys(map(stem, words[1:])))
    if query[0].isupper() and query[1:2].islower():
        yield "form", "capital"
    if "?" in query:
        yield "form", "question mark"
    if len(words) < 5:
        yield "form", "short"
    if _CODE.search(query):
        yield "form", "code"
    if _PATH.search(query):
        yield "form", "path"
