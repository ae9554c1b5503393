"""Parse a query: its terms, the identifiers it names, the paths it mentions. Pure."""

import itertools
import re
from typing import Final, NamedTuple

from gitmem.words import Text, count_identifiers, split_identifier, terms_of

# Function words of English, and in the last line words that describe any piece of code.
STOP_WORDS: Final = frozenset(
    "a about all an and any are as at be been being between by can could did do does doing each for from get gets "
    "given "
    "had has have having how i if in into is it its may me my no not of off on onto or our out over she should so some "
    "such than that the their them then there these they this those through to under up upon us use used uses using "
    "want was we were what when where which while who whose why will with within would you your "
    "code find show file files function method class implementation implemented".split()
)
"""Words that carry a query and not its subject; they count only if the query has no others."""

_SYMBOL: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|/)[A-Za-z_$][\w$]*)*[!?]?")
_SEPARATOR: Final = re.compile(r"\.|::|#|->|/")
_CODED: Final = re.compile(r"_|[a-z0-9][A-Z]|^[A-Z]+[a-z]|[A-Z]{2}")
"""Spellings of identifiers: snake case, camel case, a capitalised word, capitals."""

_PATH: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]\w{0,4}\b")
_WORD: Final = re.compile(r"\w+")

_MAX_COMPOUNDS: Final = 24
"""Enough for any sentence; bounds the look-ups for a pasted page, whose word pairs are hardly ever identifiers."""


class ParsedQuery(NamedTuple):
    """Analysed text of a query.

    - `terms`: the terms looked up in the lexical index.
    - `compounds`: looked up too; adjacent words joined as identifiers join them (`error handler`: errorhandler).
    - `names`: identifiers that may be meant as symbols, each split into its qualified parts in lower case.
    - `paths`: path fragments mentioned, in lower case.
    - `bare`: whether the query may be only a symbol (`flush`).
    - `coded`: whether it is certainly a symbol, because prose is never spelled so (`RotateKeys`, `a.b`).
    """

    text: Text
    terms: tuple[str, ...]
    compounds: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    paths: tuple[str, ...]
    bare: bool
    coded: bool


def parse_query(query: str) -> ParsedQuery:
    """Analyse the text of a query. The caller has checked that it is not empty."""
    stripped = query.strip()
    text = count_identifiers(stripped)
    content_words = [identifier for identifier in text.identifiers if identifier.lower() not in STOP_WORDS]
    # A query of stop words alone ("find all files") still searches for them.
    terms = dict.fromkeys(term for identifier in content_words or text.identifiers for term in terms_of(identifier))
    bare = _SYMBOL.fullmatch(stripped) is not None
    compounds = tuple(word for word in _compounds(stripped) if word not in terms)[:_MAX_COMPOUNDS]
    coded = bare and (_SEPARATOR.search(stripped) is not None or _looks_coded(stripped, first=False))
    return ParsedQuery(text, tuple(terms), compounds, _names(stripped, bare), _paths(stripped), bare, coded)


def _compounds(query: str) -> dict[str, None]:
    """Join each pair of adjacent words, unless one is a stop word.

    Joining three words found nothing that pairs did not.
    """
    # A stop word stays in the list as an empty string: it separates its neighbours.
    words = [
        "" if word.lower() in STOP_WORDS else "".join(split_identifier(word)).lower() for word in _WORD.findall(query)
    ]
    return dict.fromkeys(first + second for first, second in itertools.pairwise(words) if first and second)


def _names(query: str, bare: bool) -> tuple[tuple[str, ...], ...]:
    """Find identifiers spelled like code (qualified, camel or snake case, capitals) or forming the whole query."""
    names: dict[tuple[str, ...], None] = {}
    for match in _SYMBOL.finditer(query):
        parts = tuple(part.lower() for part in _SEPARATOR.split(match.group()) if part)
        first_word = match.start() == 0 and not bare
        coded = len(parts) > 1 or _looks_coded(match.group(), first_word)
        if parts and (bare or coded):
            names[parts] = None
    return tuple(names)


def _looks_coded(word: str, first: bool) -> bool:
    """Return whether a word is spelled as prose never is; `first` marks the first word of a sentence."""
    if first and len(split_identifier(word)) == 1:
        return False  # "Rotate keys": the capital belongs to the sentence
    return _CODED.search(word) is not None


def _paths(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.group().lower() for match in _PATH.finditer(query)))
