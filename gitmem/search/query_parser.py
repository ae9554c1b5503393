"""Parse a query: its terms, the identifiers it names, the places and paths it mentions. Pure.

A query of one line counts as it is. Anything longer goes to `text_parser`.
"""

from typing import TYPE_CHECKING, Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.search.change_requests import measure_request
from gitmem.search.framed_names import find_framed_name
from gitmem.search.named_dates import find_dates
from gitmem.search.parsed_query import (
    MAX_COMPOUNDS,
    ParsedQuery,
    find_names,
    is_coded,
    is_symbol,
    join_words,
)
from gitmem.search.quotations import find_quotation
from gitmem.search.spoken_names import find_spoken_names
from gitmem.search.stop_words import content_words
from gitmem.words import count_identifiers, terms_of

if TYPE_CHECKING:
    from gitmem.search.mentions import Mention

MAX_PLAIN: Final = 1000
"""Longest line, in characters, that counts as it is. A longer one is a paragraph or what a program printed."""

_PLACE: Final = lazy_pattern(r"\.\w+(?:\W+(?:line )?|#L)\d")
"""Signs of a path with a line. Their full forms are compiled only for queries that have them."""

_PATH: Final = lazy_pattern(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]\w{0,4}\b")


def parse_query(query: str) -> ParsedQuery:
    """Analyse the text of a query. The caller has checked that it is not empty."""
    stripped = query.strip()
    if is_plain(stripped):
        return _parse_line(stripped)
    from gitmem.search.text_parser import parse_text  # its expressions take as long to compile as a query takes

    return parse_text(query)


def is_plain(stripped: str) -> bool:
    """Return whether a query is one line of a length that people type: it is not split into parts."""
    return len(stripped) <= MAX_PLAIN and len(stripped.splitlines()) <= 1


def _parse_line(stripped: str) -> ParsedQuery:
    name = find_framed_name(stripped)
    stripped = name or stripped
    text = count_identifiers(stripped)
    # A query of stop words alone ("find all files") still searches for them.
    words = dict.fromkeys(content_words(stripped)) or text.identifiers
    terms = dict.fromkeys(term for identifier in words for term in terms_of(identifier))
    bare = is_symbol(stripped)
    coded = bool(name) or (bare and is_coded(stripped))
    # The parts of a qualified name are apart in code too: `flask.Flask` is not `FLASK_FLASK`.
    joined = () if coded else join_words(stripped)
    compounds = tuple(word for word in joined if word not in terms)[:MAX_COMPOUNDS]
    names, paths = tuple(dict.fromkeys(find_names(stripped, bare))), _paths(stripped)
    mentions, request = _find_lines(stripped), measure_request(stripped)
    return ParsedQuery(
        text, tuple(terms), compounds, names, paths, bare, coded, mentions, request, find_dates(stripped),
        quotation=None if bare else find_quotation(stripped),
        spoken=() if coded else find_spoken_names(stripped),
    )  # fmt: skip


def _find_lines(query: str) -> "tuple[Mention, ...]":
    """Return the places with a line. A path without one is left to `_paths`, which also knows fragments."""
    if not _PLACE.search(query):
        return ()
    from gitmem.search.mentions import find_mentions

    return tuple(mention for mention in find_mentions(query) if mention.line)


def _paths(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.group().lower() for match in _PATH.finditer(query)))
