"""Find the element of an older file that an element came from. Pure.

The order follows CodeShovel: the same symbol and parameters; else the same symbol with other parameters; else the most
similar element that the newer file no longer has. Two elements that both exist are never matched, so a copy is not
taken for a move.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nsmallest
from typing import Final

from gitmem.history.version import FileVersion, Version, similarity

_SAME_SYMBOL: Final = 0.25
"""Similarity from which on another parameter list of the same symbol is the same element."""

_SAME_NAME: Final = 0.5
"""The same for an element of this name in another container."""

EXTRACTED: Final = 0.85
"""The same for an element of this name in another file that still exists."""

_DELEGATES: Final = 0.7
"""Share of that similarity that an element may keep whose text moved elsewhere."""

_EXACT: Final = 0.1
"""How much less it may be if the parameters are equal."""

_RENAMED: Final = 0.6
"""The same for an element of another name in the same file."""

_ELSEWHERE: Final = 0.8
"""The same for an element of another name in another file."""

_EQUAL_PARAMETERS: Final = 0.3
"""Added to the similarity for equal parameters, in proportion to the similarity of the names."""

_SIMILAR_NAME: Final = 0.7
_BONUS: Final = 0.15
"""Added for a similar name with other parameters, in proportion to its similarity."""

_SMALL: Final = 12
"""Tokens below which bodies are alike by chance: then the name must be similar too."""

_MAX_COMPARED: Final = 100
"""Elements of a file with which one is compared by text and name, each at some 10 µs."""


def find_in_file(version: Version, older: FileVersion) -> Version | None:
    """Return the predecessor of an element in the same file, or in the file it was renamed from."""
    same = [old for old in older.of_symbol.get(version.element.symbol, ()) if old.kind == version.kind]
    exact = [old for old in same if old.parameters == version.parameters]
    if len(exact) == 1:
        return exact[0]
    # From here on the newer file must be parsed, which most changes do without.
    if exact:
        return _nth(version, exact)
    return (
        _match_overload(version, same)
        or _match_taken_along(version, older)
        or _match_renamed(version, older)
        or _match_taken_over(version, older)
        or _match_other_kind(version, older)
    )


def _match_taken_along(version: Version, older: FileVersion) -> Version | None:
    """Return the element of this name in the container that became this one's: members follow a renamed class."""
    container = next(iter(version.source.of_symbol.get(version.container, ())), None)
    if container is None or version.container in older.of_symbol:
        return None
    before = find_in_file(container, older)
    if before is None:
        return None
    named = [old for old in older.of_container.get(before.element.symbol, ())
             if old.kind == version.kind and old.element.name == version.element.name]  # fmt: skip
    exact = [old for old in named if old.parameters == version.parameters]
    return exact[0] if len(exact) == 1 else _match_overload(version, named)


def _match_other_kind(version: Version, older: FileVersion) -> Version | None:
    """Return the element of another kind that became this one: a function a class, or a type an interface."""
    gone = [old for old in older.of_container.get(version.container, ())
            if old.kind != version.kind and (old.kind, old.element.symbol) not in version.source.symbols]  # fmt: skip
    same = [old for old in gone if old.element.symbol == version.element.symbol]
    near = [
        old
        for old in _nearest(version, gone)
        if _name_similarity(version.element.name, old.element.name) >= _SIMILAR_NAME
    ]
    return _best(version, same, _SAME_SYMBOL) or _best(version, near, _RENAMED)


def _match_renamed(version: Version, older: FileVersion) -> Version | None:
    """Return the element of another symbol, gone from the newer file, that became this one.

    Classes that are changed alike have members that are alike, so those of its own container come first.
    """
    kind, before, after = version.kind, older.symbols, version.source.symbols
    gone = [old for old in older.of_kind.get(kind, ()) if (kind, old.element.symbol) not in after]
    added = [new for new in version.source.of_kind.get(kind, ())
             if (kind, new.element.symbol) not in before and new.element.start != version.element.start]  # fmt: skip
    own = [old for old in gone if old.container == version.container]
    rivals = [new for new in added if new.container == version.container]
    # However small they are: one name went, another came, and nothing else changed.
    if len(own) == 1 and not rivals and own[0].body == version.body and _has_same_inputs(version, own[0]):
        return own[0]
    return _match_rivals(version, own, rivals) or _match_rivals(version, gone, added)


def _match_rivals(version: Version, gone: Sequence[Version], rivals: Sequence[Version]) -> Version | None:
    """Return the most similar of elements that are gone, unless it became another one of the new ones."""
    match = find_among(version, _nearest(version, gone), _RENAMED)
    if match is None:
        return None
    own = _score(version, match)
    return None if any(_score(new, match, own) > own for new in _nearest(match, rivals)) else match


def _nearest(version: Version, others: Sequence[Version]) -> Sequence[Version]:
    """Return the elements that may be most similar to one: of many those of its name, nearest in size or in place.

    Generated files have thousands of elements, which are all alike.
    """
    if len(others) <= _MAX_COMPARED:
        return others
    size, place = _size_and_place(version)
    by_size, by_place = [], []
    for number, other in enumerate(others):
        is_other = other.element.name != version.element.name
        other_size, other_place = _size_and_place(other)
        by_size.append((is_other, abs(other_size - size), number))
        by_place.append((is_other, abs(other_place - place), number))
    nearest = {number for ranked in (by_size, by_place) for _, _, number in nsmallest(_MAX_COMPARED // 2, ranked)}
    return [others[number] for number in sorted(nearest)]


def _size_and_place(version: Version) -> tuple[int, float]:
    """Return the bytes of an element, and the share of its file that is before it."""
    element = version.element
    return element.end - element.start, element.start / len(version.source.data)


def _has_same_inputs(version: Version, old: Version) -> bool:
    """Return whether the parameters are equal, or only some were added or removed."""
    fewer, more = sorted((Counter(version.parameters), Counter(old.parameters)), key=Counter.total)
    return fewer <= more


def _match_taken_over(version: Version, older: FileVersion) -> Version | None:
    """Return the element of this name in another container whose text moved here, while another one took its place.

    It is the one exception to the rule that elements which still exist are not matched: a method that delegates to
    the new one keeps its name and place, but its history went with its text.
    """
    if version.element.holds or version.bag.total() < _SMALL:
        return None
    best: tuple[float, Version] | None = None
    for old in older.of_kind.get(version.kind, ()):
        if old.element.name != version.element.name or old.parameters != version.parameters:
            continue
        heir = version.source.by_key.get(old.key)
        if heir is None:
            continue
        alike = similarity(version.bag, old.bag)
        if alike >= EXTRACTED and similarity(heir.bag, old.bag) < _DELEGATES * alike:
            best = max((alike, old), best or (0.0, old), key=lambda entry: entry[0])
    return best[1] if best is not None else None


def find_in_renamed_file(version: Version, older: FileVersion) -> Version | None:
    """Return the predecessor of an element in the file that was renamed to its file.

    A class is often renamed with its file, so the elements are compared by their own names, at the same depth.
    """
    match = find_in_file(version, older)
    if match is not None:
        return match
    depth = version.element.symbol.count(".")
    named = [old for old in older.versions
             if old.kind == version.kind and old.element.name == version.element.name
             and old.element.symbol.count(".") == depth]  # fmt: skip
    exact = [old for old in named if old.parameters == version.parameters]
    return exact[0] if len(exact) == 1 else _best(version, exact or named, _SAME_SYMBOL)


def find_among(
    version: Version, gone: Sequence[Version], renamed: float = _ELSEWHERE, same_name: float = _SAME_NAME
) -> Version | None:
    """Return the most similar of elements that no longer exist; those of the same name come first.

    The last two arguments are the least similarity to an element of another name, and of the same name.
    """
    gone = [old for old in gone if old.kind == version.kind]
    named = [old for old in gone if old.element.name == version.element.name]
    exact = [old for old in named if old.parameters == version.parameters]
    match = _best(version, exact, same_name - _EXACT) or _best(version, named, same_name)
    others = [old for old in gone if old.element.name != version.element.name]
    return match or _best(version, others, renamed)


def without_counterpart(olds: Iterable[Version], newer: FileVersion) -> list[Version]:
    """Return the elements that a newer version of the file no longer has."""
    return [old for old in olds if old.key not in newer.by_key]


def _nth(version: Version, exact: Sequence[Version]) -> Version:
    """Return the counterpart among elements with equal keys: by text, else the one at the same place among them."""
    if len(exact) == 1:
        return exact[0]
    alike = [old for old in exact if old.text == version.text]
    if alike:
        return alike[0]
    same = version.source.of_symbol[version.element.symbol]
    place = [new.element.start for new in same if new.key == version.key].index(version.element.start)
    return exact[min(place, len(exact) - 1)]


def _match_overload(version: Version, olds: Sequence[Version]) -> Version | None:
    """Return the element of the same symbol whose parameters changed into those of this one."""
    free, before = without_counterpart(olds, version.source), {old.key for old in olds}
    same = version.source.of_symbol.get(version.element.symbol, ())
    rivals = [new for new in same if new.kind == version.kind and new.key not in before]
    if len(free) == len(rivals) == 1:
        return free[0]
    best = _best(version, _nearest(version, free), _SAME_SYMBOL)
    if best is None:
        return None
    # Another overload that is new as well may fit better.
    own = similarity(version.bag, best.bag)
    better = (new for new in _nearest(best, rivals) if _most_alike(new, best) > own)
    return None if any(similarity(new.bag, best.bag) > own for new in better) else best


def _best(version: Version, olds: Iterable[Version], least: float) -> Version | None:
    """Return the most similar element whose score reaches `least`."""
    best = None
    for old in olds:
        score = _score(version, old, least)
        if score > least or (score == least and best is None):
            best, least = old, score
    return best


def _score(version: Version, old: Version, least: float = 0.0) -> float:
    """Return the similarity of two elements; of small ones the names count as much as the tokens.

    It is 0 if it is certain to be below `least`.
    """
    is_large = min(version.tokens, old.tokens) >= _SMALL and min(version.body_length, old.body_length) > 4
    if is_large and _most_alike(version, old) + _EQUAL_PARAMETERS < least:
        return 0.0
    alike = similarity(version.bag, old.bag)
    if is_large and alike + _EQUAL_PARAMETERS < least:
        return 0.0  # the comparison of names takes longest
    # Equal parameters and a similar name outweigh a body that was rewritten.
    names = _name_similarity(version.element.name, old.element.name)
    if len(version.parameters) > 3 and version.parameters == old.parameters:
        alike += _EQUAL_PARAMETERS * names
    elif names >= _SIMILAR_NAME:
        alike += _BONUS * names
    if is_large:
        return alike
    if version.element.name == old.element.name:
        return 0.5 * (1 + alike)
    return 0.5 * (alike + names)


def _most_alike(version: Version, old: Version) -> float:
    """Return the most that the similarity of two elements can be, by their sizes."""
    fewer, more = sorted((version.tokens, old.tokens))
    return 2 * fewer / (fewer + more) if more else 1.0


@lru_cache(maxsize=1 << 14)
def _name_similarity(name: str, other: str) -> float:
    return SequenceMatcher(None, name, other).ratio()
