"""Find words that are formed from one verb: `parser` and `parse`, `validation`, `validator` and `validate`. Pure.

The index keeps such terms apart. A name that has the noun instead of the verb is compared by their common root.
"""

import itertools
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.abbreviations import abbreviations_of, full_forms


class _Ending(NamedTuple):
    """Ending of a noun, that of the stem of its verb, and the fewest letters before the ending."""

    noun: str
    verb: str
    letters: int


# The fewest letters keep words apart that only look related: `station` and `state`, `portion` and `port`.
_ENDINGS: Final = (
    _Ending("er", "", 3),  # parser
    _Ending("or", "", 5),  # creator
    _Ending("ator", "", 4),  # comparator
    _Ending("ment", "", 4),  # deployment
    _Ending("al", "", 5),  # removal
    _Ending("ion", "", 5),  # creation
    _Ending("ation", "", 4),  # transformation
    _Ending("ition", "", 5),  # definition
    _Ending("cation", "", 4),  # verification
    _Ending("ution", "v", 4),  # resolution
    _Ending("ption", "b", 5),  # description
    _Ending("sion", "t", 5),  # conversion
    _Ending("sion", "d", 5),  # expansion
    _Ending("ssion", "t", 4),  # submission
    _Ending("usion", "ud", 5),  # inclusion
    _Ending("ison", "", 5),  # comparison
    _Ending("sis", "z", 5),  # analysis
)

_UNRELATED: Final = frozenset(
    "center corner folder header letter master number offer order original pointer power statement".split()
)
"""Words that only look formed from a verb (`fold`, `head`, `state`), or mean something else in code (`origin`)."""

_DOUBLED: Final = frozenset("bcdfgklmnprtv")
"""Letters that are doubled before an ending: `run` and `runner`."""


@lru_cache(maxsize=1 << 12)
def roots_of(term: str) -> tuple[str, ...]:
    """Return a stemmed term and the stems of verbs that it may be formed from.

    Related words have a root in common; a final e is no part of it.
    """
    roots = [term]
    if term not in _UNRELATED:
        for noun, verb, letters in _ENDINGS:
            if term.endswith(noun) and len(term) - len(noun) >= letters:
                roots.append(term[: -len(noun)] + verb)
    roots += [root[:-1] for root in roots[1:] if len(root) > 3 and root[-1] == root[-2] and root[-1] in _DOUBLED]
    roots += full_forms(term)
    return tuple(dict.fromkeys(map(_plain, roots)))


def prefixes_of_related(terms: Iterable[str]) -> list[str]:
    """Return letters of which a word must contain some to be related to one of the terms."""
    roots = {root for term in terms for root in roots_of(term)}
    roots.update(itertools.chain.from_iterable(map(abbreviations_of, list(roots))))
    # The last letter of a root may differ: `describe`, `description`.
    return sorted(root[:-1] if len(root) > 3 else root for root in roots)


def _plain(root: str) -> str:
    """Return a root as `words.stem` ends words: `deployment` has the root of `deploy`."""
    if len(root) > 3 and root.endswith("e"):
        return root[:-1]
    return root[:-1] + "i" if len(root) > 3 and root.endswith("y") else root
