"""Find the name that a query asks for within the words around it: `Ring.rotate` in "how does Ring.rotate() work". Pure.

Only names count that prose never has, and only if the words around them describe no more than any piece of code.
"""

from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.search.parsed_query import SYMBOL, is_coded, is_qualified
from gitmem.words import split_identifier

_KINDS: Final = (
    "class constant def enum field fn func function interface member method property struct trait type".split()
)
_KIND_WORDS: Final = frozenset(_KINDS)
_DEFINING: Final = frozenset(("declaration", "declared", "defined", "definition", *_KINDS))
"""Words that ask for the definition of a name; without them `GraphQL` or `OAuth` may be a subject."""

_FRAME: Final = _DEFINING.union(
    "a an are at called code describe did do does explain file find for how i implementation implemented in is located "
    "look me module named of please see show source the to what where which work works".split()
)
"""Words around a name that ask for nothing else."""

_QUOTED: Final = lazy_pattern(rf"[`'\"]*({SYMBOL})(\((?:\.\.\.|…)?\))?[`'\"]*")
"""A name, in quotes or not, and whether it is called without arguments."""

_FILE: Final = lazy_pattern(r"\.[a-z]{1,4}$")

_OWN: Final = r"[`'\"]?([A-Za-z_$][\w$]*[!?]?)(?:\(\))?[`'\"]?"
_OWNER: Final = rf"[`'\"]?({SYMBOL})[`'\"]?"
_KIND: Final = f"(?:{'|'.join(_KINDS)})"
_MEMBER: Final = lazy_pattern(
    rf"(?:the )?(?:{_KIND} {_OWN}|{_OWN} {_KIND}) (?:of|in|on|from) (?:the )?(?:{_KIND} )?{_OWNER}(?: {_KIND})?"
)
"""A member before its class: `rotate method of Ring`, `def rotate in class Ring`."""

_OWNED: Final = lazy_pattern(rf"(?:the )?{_OWNER}'s {_OWN}(?: {_KIND})?")
"""A class before its member: `Ring's rotate method`."""


def find_framed_name(query: str) -> str:
    """Return the name that a query of one line is, in its words; "" if prose might have it.

    The query is stripped. A call without arguments is a name in small letters, too: `flush()`.
    """
    # Alone, `empty?` and `save!` are names in Ruby.
    query = query.rstrip("?.!:;{ " if " " in query else ":;{")
    words = query.split()
    # The expressions take longer to compile than a query without a name may take, so they wait for signs of one.
    return (_find_member(query) if _may_be_member(words) else "") or _find_only_name(words)


def _may_be_member(words: list[str]) -> bool:
    return any(word.endswith("'s") for word in words) or not _KIND_WORDS.isdisjoint(words)


def _find_member(query: str) -> str:
    member = _MEMBER.fullmatch(query)
    if member is not None:
        own, owner = member[1] or member[2], member[3]
    elif (match := _OWNED.fullmatch(query)) is not None:
        owner, own = match[1], match[2]
    else:
        return ""
    return f"{owner}.{own}" if is_coded(owner) else ""


def _find_only_name(words: list[str]) -> str:
    places = [place for place, word in enumerate(words) if word.lower() not in _FRAME]
    match = _QUOTED.fullmatch(words[places[0]]) if len(places) == 1 else None
    if match is None:
        return ""
    name: str = match[1]
    if match[2]:
        return name  # called
    # A capital at the beginning of a sentence says nothing.
    may_be_first = places[0] > 0 or len(split_identifier(name)) > 1
    asks_for_definition = not _DEFINING.isdisjoint(word.lower() for word in words)
    is_name = is_coded(name) if len(words) == 1 or (asks_for_definition and may_be_first) else _is_never_prose(name)
    return name if is_name else ""


def _is_never_prose(name: str) -> bool:
    """Return whether a name is neither a word nor that of a product or a file: `client/server`, `node.js`."""
    return "_" in name or (is_qualified(name) and "/" not in name and _FILE.search(name) is None)
