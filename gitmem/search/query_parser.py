"""What a question says: its words as terms, the names it quotes, the paths it mentions. Pure."""

import itertools
import re
from typing import Final, NamedTuple

from gitmem.words import Text, count_identifiers, split_identifier, terms_of

STOP_WORDS: Final = frozenset(
    "a about all an and any are as at be been being between by can could did do does doing each for from get gets "
    "given "
    "had has have having how i if in into is it its may me my no not of off on onto or our out over she should so some "
    "such than that the their them then there these they this those through to under up upon us use used uses using "
    "want was we were what when where which while who whose why will with within would you your "
    "code find show file files function method class implementation implemented".split()
)
"""Words that carry a question and not its subject; they count only where nothing else does."""

_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|/)[A-Za-z_$][\w$]*)*[!?]?")
_SEPARATOR = re.compile(r"\.|::|#|->|/")
_CODED = re.compile(r"_|[a-z0-9][A-Z]|^[A-Z]+[a-z]|[A-Z]{2}")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]\w{0,4}\b")


_WORD = re.compile(r"\w+")
_MAX_COMPOUNDS: Final = 24
"""Enough for any sentence; a pasted page is no name."""


class ParsedQuery(NamedTuple):
    """A parsed question.

    `terms` are what the lexical index is asked, and so are `compounds`: neighbouring words joined as identifiers join
    them (`error handler`: errorhandler). `names` are the identifiers that may be meant as symbols, each split into its
    qualified parts in lower case, `paths` the path fragments it mentions, `bare` whether it may be only a symbol,
    `coded` whether it is one for sure, being spelled as prose never is.
    """

    text: Text
    terms: tuple[str, ...]
    compounds: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    paths: tuple[str, ...]
    bare: bool
    coded: bool


def parse_query(question: str) -> ParsedQuery:
    """Take a question apart. The caller has checked that it is not empty."""
    stripped = question.strip()
    text = count_identifiers(stripped)
    told = [identifier for identifier in text.identifiers if identifier.lower() not in STOP_WORDS]
    terms = dict.fromkeys(term for identifier in told or text.identifiers for term in terms_of(identifier))
    bare = _SYMBOL.fullmatch(stripped) is not None
    compounds = tuple(word for word in _compounds(stripped) if word not in terms)[:_MAX_COMPOUNDS]
    coded = bare and (_SEPARATOR.search(stripped) is not None or _looks_coded(stripped, first=False))
    return ParsedQuery(text, tuple(terms), compounds, _names(stripped, bare), _paths(stripped), bare, coded)


def _compounds(question: str) -> dict[str, None]:
    """Neighbouring words as one, where neither is a stop word. Three as one found nothing that two did not."""
    words = [
        "" if word.lower() in STOP_WORDS else "".join(split_identifier(word)).lower()
        for word in _WORD.findall(question)
    ]
    return dict.fromkeys(first + second for first, second in itertools.pairwise(words) if first and second)


def _names(question: str, bare: bool) -> tuple[tuple[str, ...], ...]:
    """Identifiers written like code: qualified, in camel or snake case, in capitals, or all there is."""
    found: dict[tuple[str, ...], None] = {}
    for match in _SYMBOL.finditer(question):
        parts = tuple(part.lower() for part in _SEPARATOR.split(match.group()) if part)
        first_word = match.start() == 0 and not bare
        coded = len(parts) > 1 or _looks_coded(match.group(), first_word)
        if parts and (bare or coded):
            found[parts] = None
    return tuple(found)


def _looks_coded(word: str, first: bool) -> bool:
    """Whether a word is spelled as prose never is; a capital at the start of a sentence proves nothing."""
    if first and len(split_identifier(word)) == 1:
        return False
    return _CODED.search(word) is not None


def _paths(question: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.group().lower() for match in _PATH.finditer(question)))
