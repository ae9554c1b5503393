"""A query after its analysis, and the spellings of identifiers that tell them from prose. Pure."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple
from gitmem.search.named_dates import NamedDate
from gitmem.search.qualified_names import fold
from gitmem.search.quotations import Quotation
from gitmem.search.spoken_names import SpokenName
from gitmem.search.stop_words import STOP_WORDS, requested_names
from gitmem.words import Text, compound_of, split_identifier

if TYPE_CHECKING:
    from gitmem.search.mentions import Mention

SYMBOL: Final = r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|/)[A-Za-z_$][\w$]*)*[!?]?"
"""Pattern of an identifier with its qualifiers."""

_SYMBOL: Final = lazy_pattern(SYMBOL)
_SEPARATOR: Final = lazy_pattern(r"\.|::|#|->|/")
_CODED: Final = lazy_pattern(r"_|[a-z0-9][A-Z]|^[A-Z]+[a-z]|[A-Z]{2}")
"""Spellings of identifiers: snake case, camel case, a capitalised word, capitals."""

_WORD: Final = lazy_pattern(r"\w+")

MAX_COMPOUNDS: Final = 24
"""Enough for any sentence; bounds the look-ups for a pasted page, whose word pairs are hardly ever identifiers."""

Name = tuple[str, ...]
"""Qualified parts of an identifier, in lower case."""


class Facet(NamedTuple):
    """Terms with which the names in the tree are compared, as if they were a query of their own; and their weight."""

    terms: tuple[str, ...]
    weight: float


class Literal(NamedTuple):
    """Literal parts of a query: names of definitions, without underscores, or a quotation."""

    names: tuple[Name, ...] = ()
    quotation: Quotation | None = None


NO_LITERAL: Final = Literal()


class ParsedQuery(NamedTuple):
    """Analysed text of a query.

    - `terms`: the terms looked up in the lexical index.
    - `compounds`: looked up too; adjacent words joined as identifiers join them (`error handler`: errorhandler).
    - `names`: identifiers that may be meant as symbols, each split into its qualified parts in lower case.
    - `paths`: path fragments mentioned, in lower case.
    - `bare`: whether the query may be only a symbol (`flush`).
    - `coded`: whether it is certainly a symbol, because prose is never spelled so (`RotateKeys`, `a.b`).
    - `mentions`: places that it names: lines of files, frames of stack traces.
    - `request`: from 0 to 1, how surely it asks for a change, as a commit or a task does (`Add a timeout`).
    - `dates`: days, months and years that it names; none in a long text, which may be a log.
    - `quotation`: the text that it may quote, None for a name, a few words or a long text that is not all code.
    - `spoken`: names that it may say in words (`copytoclipboard`); once candidates are retrieved, those that exist.

    The rest is empty for a query of one line, in which everything has the weight 1: weights of the terms and of the
    names, the facets, and the texts to embed with their weights.
    """

    text: Text
    terms: tuple[str, ...]
    compounds: tuple[str, ...]
    names: tuple[Name, ...]
    paths: tuple[str, ...]
    bare: bool
    coded: bool
    mentions: "tuple[Mention, ...]" = ()
    request: float = 0.0
    dates: Sequence[NamedDate] = ()
    weights: Mapping[str, float] = MappingProxyType({})
    name_weights: Mapping[Name, float] = MappingProxyType({})
    facets: tuple[Facet, ...] = ()
    texts: tuple[tuple[Text, float], ...] = ()
    quotation: Quotation | None = None
    spoken: tuple[SpokenName, ...] = ()

    @property
    def named_members(self) -> tuple[Name, ...]:
        """The names of members with their classes that the query certainly is (`Call.execute`), without underscores."""
        return tuple(tuple(map(fold, name)) for name in self.names if len(name) > 1) if self.coded else ()


def is_symbol(text: str) -> bool:
    """Return whether a text may be only a symbol (`flush`, `Ring.rotate`)."""
    return _SYMBOL.fullmatch(text) is not None


def is_coded(symbol: str) -> bool:
    """Return whether a symbol is spelled as prose never is (`RotateKeys`, `a.b`)."""
    return is_qualified(symbol) or _looks_coded(symbol, first=False)


def is_qualified(symbol: str) -> bool:
    """Return whether a symbol has qualifiers: classes, packages or modules."""
    return _SEPARATOR.search(symbol) is not None


def spelled_names(query: ParsedQuery) -> frozenset[str]:
    """Return the last parts of the names of a query, as they are spelled: `Gson` of `gson.Gson`.

    Names in small letters count only if the query is certainly a name.
    """
    names = frozenset(query.names)
    parts = (_parts_of(match[0]) for match in _SYMBOL.finditer(query.text.text))
    return frozenset(
        each[-1]
        for each in parts
        if (query.coded or each[-1] != each[-1].lower()) and tuple(map(str.lower, each)) in names
    )


def spelled_classes(query: ParsedQuery) -> frozenset[Name]:
    """Return the classes, with all their qualifiers, whose members a query certainly names, as they are spelled."""
    parts = (_parts_of(match[0]) for match in _SYMBOL.finditer(query.text.text))
    return frozenset(each[:-1] for each in parts if query.coded and len(each) > 1)


def _parts_of(symbol: str) -> Name:
    return tuple(part for part in _SEPARATOR.split(symbol) if part)


def join_words(query: str) -> dict[str, None]:
    """Join each pair of adjacent words. A stop word is joined only by a hyphen: `v-for`, `sign-in`.

    Joining three words found nothing that pairs did not.
    """
    pairs = itertools.pairwise(_WORD.finditer(query))
    pairs_of_parts = (
        (_parts(first[0]), _parts(second[0]))
        for first, second in pairs
        if query[first.end() : second.start()] == "-" or not (_is_stop_word(first[0]) or _is_stop_word(second[0]))
    )
    return {compound_of([*first, *second]): None for first, second in pairs_of_parts if first and second}


def _parts(word: str) -> list[str]:
    return [part.lower() for part in split_identifier(word)]


def _is_stop_word(word: str) -> bool:
    return word.lower() in STOP_WORDS


def find_names(query: str, bare: bool) -> Iterator[Name]:
    """Yield identifiers spelled like code (qualified, camel or snake case, capitals) or forming the whole query."""
    for match in _SYMBOL.finditer(query):
        parts = tuple(part.lower() for part in _SEPARATOR.split(match.group()) if part)
        first_word = match.start() == 0 and not bare
        coded = len(parts) > 1 or _looks_coded(match.group(), first_word)
        if parts and (bare or coded):
            yield parts
    yield from ((name,) for name in sorted(requested_names(query)))


def _looks_coded(word: str, first: bool) -> bool:
    """Return whether a word is spelled as prose never is; `first` marks the first word of a sentence."""
    if first and len(split_identifier(word)) == 1:
        return False  # "Rotate keys": the capital belongs to the sentence
    return _CODED.search(word) is not None
