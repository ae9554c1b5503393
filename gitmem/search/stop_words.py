"""Words that carry a query and not its subject, unless someone asks for the thing of that name. Pure."""

import re
from typing import Final

from gitmem.words import find_identifiers

_FUNCTION_WORDS: Final = frozenset(
    "a about all an and any are as at be been being between by can could did do does doing each for from get gets "
    "given "
    "had has have having how i if in into is it its may me my no not of off on onto or our out over she should so some "
    "such than that the their them then there these they this those through to under up upon us use used uses using "
    "want was we were what when where which while who whose why will with within would you your".split()
)
_CODE_WORDS: Final = frozenset("code find show file files function method class implementation implemented".split())
"""Words that describe any piece of code. As a name they mean one piece of it."""

STOP_WORDS: Final = _FUNCTION_WORDS | _CODE_WORDS
"""Words that count only if the query has no others, or if they are meant as a name."""

_PUNCTUATION: Final = str.maketrans(dict.fromkeys("`'\"()[]{}.,;:!?<>/#", " "))
_KIND: Final = r"(?:method|function|class|command|subcommand|option|flag|module|struct|macro|property|attribute|hook)s?"
_CODE_WORD: Final = f"({'|'.join(sorted(_CODE_WORDS))})"
_AS_NAME: Final = "|".join(
    (
        rf"[`'\"]{_CODE_WORD}(?:\(\))?[`'\"]",  # `find`
        rf"\b{_CODE_WORD}\(",  # find()
        rf"\b(?:the|a|an|of|named|called)\s+{_CODE_WORD}\s+{_KIND}\b",  # the find method
        rf"\b(?:named|called)\s+{_CODE_WORD}\b",
    )
)


def requested_names(text: str) -> frozenset[str]:
    """Return the stop words, in lower case, that a text uses as the name of something in the code."""
    # Most queries have none of these words, so the expression is compiled only for one that has.
    if _CODE_WORDS.isdisjoint(text.lower().translate(_PUNCTUATION).split()):
        return frozenset()
    matches = re.finditer(_AS_NAME, text, re.IGNORECASE)
    return frozenset(name.lower() for match in matches for name in match.groups() if name)


def content_words(text: str) -> list[str]:
    """Return the identifiers of a text, with repetitions, without stop words that are not meant as names."""
    names = requested_names(text)
    return [word for word in find_identifiers(text) if (lower := word.lower()) not in STOP_WORDS or lower in names]
