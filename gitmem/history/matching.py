"""Find the element of an older file that an element came from. Pure.

The order follows CodeShovel: the same symbol and parameters; else the same symbol with other parameters; else the most
similar element that the newer file no longer has. Two elements that both exist are never matched, so a copy is not
taken for a move.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
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


def find_in_file(version: Version, older: FileVersion) -> Version | None:
    """Return the predecessor of an element in the same file, or in the file it was renamed from."""
    olds = [old for old in older.versions if old.kind == version.kind]
    same = [old for old in olds if old.element.symbol == version.element.symbol]
    exact = [old for old in same if old.parameters == version.parameters]
    if len(exact) == 1:
        return exact[0]
    # From here on the newer file must be parsed, which most changes do without.
    news = [new for new in version.source.versions if new.kind == version.kind]
    if exact:
        return _nth(version, news, exact)
    return (
        _match_overload(version, same, news)
        or _match_taken_along(version, olds, news, older)
        or _match_renamed(version, olds, news)
        or _match_taken_over(version, olds, news)
        or _match_other_kind(version, older)
    )


def _match_taken_along(
    version: Version, olds: Sequence[Version], news: Sequence[Version], older: FileVersion
) -> Version | None:
    """Return the element of this name in the container that became this one's: members follow a renamed class."""
    container = next((new for new in version.source.versions if new.element.symbol == version.container), None)
    if container is None or any(old.element.symbol == version.container for old in older.versions):
        return None
    before = find_in_file(container, older)
    if before is None:
        return None
    named = [old for old in olds
             if old.element.name == version.element.name and old.container == before.element.symbol]  # fmt: skip
    exact = [old for old in named if old.parameters == version.parameters]
    return exact[0] if len(exact) == 1 else _match_overload(version, named, news)


def _match_other_kind(version: Version, older: FileVersion) -> Version | None:
    """Return the element of another kind that became this one: a function a class, or a type an interface."""
    kept = {(new.kind, new.element.symbol) for new in version.source.versions}
    gone = [old for old in older.versions
            if old.kind != version.kind and (old.kind, old.element.symbol) not in kept
            and old.container == version.container]  # fmt: skip
    same = [old for old in gone if old.element.symbol == version.element.symbol]
    near = [old for old in gone if _name_similarity(version, old) >= _SIMILAR_NAME]
    return _best(version, same, _SAME_SYMBOL) or _best(version, near, _RENAMED)


def _match_renamed(version: Version, olds: Sequence[Version], news: Sequence[Version]) -> Version | None:
    """Return the element of another symbol, gone from the newer file, that became this one.

    Classes that are changed alike have members that are alike, so those of its own container come first.
    """
    before, after = {old.element.symbol for old in olds}, {new.element.symbol for new in news}
    gone = [old for old in olds if old.element.symbol not in after]
    added = [new for new in news if new.element.symbol not in before and new.element.start != version.element.start]
    own = [old for old in gone if old.container == version.container]
    rivals = [new for new in added if new.container == version.container]
    # However small they are: one name went, another came, and nothing else changed.
    if len(own) == 1 and not rivals and own[0].body == version.body and _has_same_inputs(version, own[0]):
        return own[0]
    return _match_rivals(version, own, rivals) or _match_rivals(version, gone, added)


def _match_rivals(version: Version, gone: Sequence[Version], rivals: Sequence[Version]) -> Version | None:
    """Return the most similar of elements that are gone, unless it became another one of the new ones."""
    match = find_among(version, gone, _RENAMED)
    return None if match is None or any(_score(new, match) > _score(version, match) for new in rivals) else match


def _has_same_inputs(version: Version, old: Version) -> bool:
    """Return whether the parameters are equal, or only some were added or removed."""
    fewer, more = sorted((Counter(version.parameters), Counter(old.parameters)), key=Counter.total)
    return fewer <= more


def _match_taken_over(version: Version, olds: Sequence[Version], news: Sequence[Version]) -> Version | None:
    """Return the element of this name in another container whose text moved here, while another one took its place.

    It is the one exception to the rule that elements which still exist are not matched: a method that delegates to
    the new one keeps its name and place, but its history went with its text.
    """
    if version.element.holds or version.bag.total() < _SMALL:
        return None
    kept = {new.key: new for new in news}
    best: tuple[float, Version] | None = None
    for old in olds:
        heir = kept.get(old.key)
        if heir is None or old.element.name != version.element.name or old.parameters != version.parameters:
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
    kept = {new.key for new in newer.versions}
    return [old for old in olds if old.key not in kept]


def _nth(version: Version, news: Sequence[Version], exact: Sequence[Version]) -> Version:
    """Return the counterpart among elements with equal keys: by text, else the one at the same place among them."""
    if len(exact) == 1:
        return exact[0]
    alike = [old for old in exact if old.text == version.text]
    if alike:
        return alike[0]
    place = [new.element.start for new in news if new.key == version.key].index(version.element.start)
    return exact[min(place, len(exact) - 1)]


def _match_overload(version: Version, olds: Sequence[Version], news: Sequence[Version]) -> Version | None:
    """Return the element of the same symbol whose parameters changed into those of this one."""
    kept, before = {new.key for new in news}, {old.key for old in olds}
    free = [old for old in olds if old.key not in kept]
    rivals = [new for new in news if new.element.symbol == version.element.symbol and new.key not in before]
    if len(free) == len(rivals) == 1:
        return free[0]
    best = _best(version, free, _SAME_SYMBOL)
    # Another overload that is new as well may fit better.
    if best is None or any(similarity(new.bag, best.bag) > similarity(version.bag, best.bag) for new in rivals):
        return None
    return best


def _best(version: Version, olds: Iterable[Version], least: float) -> Version | None:
    """Return the most similar element whose score reaches `least`."""
    scored = [(_score(version, old), -number, old) for number, old in enumerate(olds)]
    best = max(scored, key=lambda entry: entry[:2], default=None)
    return best[2] if best is not None and best[0] >= least else None


def _score(version: Version, old: Version) -> float:
    """Return the similarity of two elements; of small ones the names count as much as the tokens."""
    alike = similarity(version.bag, old.bag)
    # Equal parameters and a similar name outweigh a body that was rewritten.
    names = _name_similarity(version, old)
    if len(version.parameters) > 3 and version.parameters == old.parameters:
        alike += _EQUAL_PARAMETERS * names
    elif names >= _SIMILAR_NAME:
        alike += _BONUS * names
    if min(version.bag.total(), old.bag.total()) >= _SMALL and min(version.body_length, old.body_length) > 4:
        return alike
    if version.element.name == old.element.name:
        return 0.5 * (1 + alike)
    return 0.5 * (alike + names)


def _name_similarity(version: Version, old: Version) -> float:
    return SequenceMatcher(None, version.element.name, old.element.name).ratio()
