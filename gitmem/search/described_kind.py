"""Tell whether a question describes a function or a class, by its first word. Pure.

People begin the description of a function with a verb (`delete entries that have expired`) or ask how something is
done. That of a class begins with an article or a noun (`a pool of connections`). The words are first words of
documentation; `fit_unit_weights` measures what they are worth.
"""

from collections.abc import Sequence
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.search.stop_words import STOP_WORDS
from gitmem.words import stem

FUNCTION: Final = -1
CLASS: Final = 1
UNKNOWN: Final = 0

TOPIC_TERMS: Final = 6
"""Most terms of a query that names a topic, and so may begin with a noun that is also a verb (`load balancing`)."""


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


_VERBS: Final = _stems(
    "allocate apply assert attach calculate compute convert create decode delete deserialize detect determine disable"
    " discard emit enable encode ensure escape estimate evaluate execute extract fetch find flatten generate get"
    " how initialize insert invoke iterate normalize obtain parse perform prepare produce remove retrieve return"
    " sanitize send serialize unregister validate verify whether"
)
"""First words of what a function does. `whether` begins what it returns, and `how` asks what it does."""

_VERBS_OR_NOUNS: Final = _stems(
    "add adjust advance append attempt build call change check clear close compile connect consume copy count draw dump"
    " filter flush format handle if is join load mark merge move open override pass pop print process push read"
    " recursively register render replace report reset resolve run search set sort split start stop store strip take"
    " tell test try turn update use wait walk when write"
)
"""The same if the query is a sentence: in a topic, most of them may be nouns."""

_NOUNS: Final = _stems(
    "a abstract an base class contains default defines describes enum error exception holds indicates interface manager"
    " manages parameters raised represents signal simple struct the trait type types validator"
)
"""First words of what a class is or represents."""

_WORD: Final = lazy_pattern(r"[^\W\d_]+")


def find_described_kind(text: str, terms: Sequence[str]) -> int:
    """Return FUNCTION, CLASS or UNKNOWN for a query of one line with these terms."""
    words = [word.lower() for word in _WORD.findall(text)]
    if not words:
        return UNKNOWN
    first = stem(words[0])
    if first in _VERBS:
        return FUNCTION
    if first in _VERBS_OR_NOUNS:
        is_sentence = len(terms) > TOPIC_TERMS or any(word in STOP_WORDS for word in words[1:])
        return FUNCTION if is_sentence else UNKNOWN
    return CLASS if first in _NOUNS else UNKNOWN
