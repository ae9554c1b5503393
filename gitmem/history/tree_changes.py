"""Compare the definitions of two trees: which were added, removed, changed and moved. Pure but for reading blobs.

Definitions with equal keys are pairs. Of the rest, each new one is matched with the old one that it resembles most,
first in its own file, then among those that other files lost (`matching`). So moved code is reported as moved.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Final

from gitmem.chunking.element import is_in_anonymous_class
from gitmem.git.file_history import FileChange
from gitmem.history.changes import BODY, FILE_MOVE, FORMAT, compare
from gitmem.history.element_reader import ElementReader
from gitmem.history.line_tracking import LINES
from gitmem.history.matching import EXTRACTED, find_among, find_in_file, find_in_renamed_file
from gitmem.history.version import FileVersion, Version, similarity
from gitmem.named_tuple import NamedTuple

ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"
MOVED: Final = "moved"
GROUPS: Final = (ADDED, REMOVED, CHANGED, MOVED)
"""Groups of changes, in the order in which they are shown."""

_MAX_PAIRS: Final = 100_000
"""Pairs of new and lost definitions of different files that are compared by their text; beyond, names must be equal."""

_MAX_NAMESAKES: Final = 50
"""Lost definitions of one name that are then compared with a new one: those that are closest to it in size."""

_SMALL: Final = 12
"""Tokens of parameters and body below which definitions are alike by chance."""

_SAME_NAME: Final = 0.25
"""Added to the similarity of two definitions of the same name."""

_ANY: Final = 0.01
"""Added for any match: it comes before none, however little the texts have in common."""

_BINARY_BYTES: Final = 8000
"""Bytes at the start of a file in which a NUL makes it binary, as for git."""


class ElementChange(NamedTuple):
    """Definition, or file without any, that differs between two trees. Lines are those of the newer tree.

    Of a removed one, path and lines are those of the older tree. `kinds` distinguish the versions. `members` is the
    number of definitions inside that share its fate. `size` is the number of lines that differ.
    """

    group: str
    kinds: tuple[str, ...]
    path: bytes
    symbol: str
    chunk_type: str
    first: int
    last: int
    old_path: bytes
    old_symbol: str
    members: int
    size: int
    text: bytes


class _Pair(NamedTuple):
    """Old and new version of a definition; either is None if there is no counterpart."""

    old: Version | None
    new: Version | None
    file_moved: bool = False


class _File(NamedTuple):
    """File of both trees, with the definitions that have no counterpart in it.

    `old` is its old version if it lost and gained definitions, else None: then none can be matched in the file itself.
    """

    change: FileChange
    old: FileVersion | None
    gone: list[Version]
    added: list[Version]


def compare_trees(
    files: Sequence[FileChange], reader: ElementReader, *, with_text: bool = False
) -> list[ElementChange]:
    """Return the definitions that differ in the files of a difference, by group, path and line.

    A file without definitions is one change, and so is the code of a file outside of its definitions. So is a file of
    which a version cannot be read: all of its definitions would count as added or removed. Changes have their text only
    on request: that of thousands is the largest thing in memory.
    """
    reader.expect([oid for file in files for oid in (file.old_blob, file.blob)])
    changes: list[ElementChange] = []
    compared: list[_File] = []

    def add(found: Iterable[ElementChange]) -> None:
        changes.extend(found if with_text else (each._replace(text=b"") for each in found))

    for change in files:
        old = reader.version(change.old_path, change.old_blob)
        new = reader.version(change.path, change.blob)
        is_read = reader.missing.isdisjoint((change.old_blob, change.blob))
        if not is_read or _is_binary(old) or _is_binary(new) or not (old.versions or new.versions):
            add(_whole_file(change, old, new, is_text=is_read))
            continue
        add(_loose_code(change, old, new))
        file, kept = _pair_by_key(change, old, new)
        # Described at once: of a range of thousands of files, only those in which definitions came or went are kept.
        add(_to_changes((pair, 0) for pair in kept))
        _release(file, old, new)
        if file.gone or file.added:
            compared.append(file)
    add(_to_changes(_without_members(_match_rest(compared))))
    # Blank lines between the members of a class are no change of it.
    shown = [each for each in changes if each.kinds != (FORMAT,) or each.size]
    return sorted(shown, key=lambda each: (GROUPS.index(each.group), each.path, each.first, each.symbol))


def _pair_by_key(change: FileChange, old: FileVersion, new: FileVersion) -> tuple[_File, list[_Pair]]:
    """Pair the definitions with equal keys in their order; return those that differ, and the file with the others."""
    olds: defaultdict[tuple[object, ...], list[Version]] = defaultdict(list)
    for version in _outer(old):
        olds[version.key].append(version)
    pairs, added = [], []
    for version in _outer(new):
        same = olds[version.key]
        if not same:
            added.append(version)
            continue
        # Of several with the same key those with equal texts belong together.
        match = next((each for each in same if each.text == version.text), same[0])
        same.remove(match)
        if match.text != version.text:
            pairs.append(_Pair(match, version, file_moved=True))
    gone = [version for rest in olds.values() for version in rest]
    return _File(change, old if gone and added else None, gone, added), pairs


def _release(file: _File, old: FileVersion, new: FileVersion) -> None:
    """Free the results of the comparison of a file. Most of them are about definitions that both versions have."""
    for version in (*old.versions, *new.versions):
        version.release()
    if file.old is None:
        # Only those without a counterpart are looked at again.
        old.forget_versions()
        new.forget_versions()


def _outer(file: FileVersion) -> list[Version]:
    """Return the definitions of a file without members of anonymous classes, whose changes are those around them."""
    return [version for version in file.versions if not is_in_anonymous_class(version.element.symbol)]


def _match_rest(files: Sequence[_File]) -> list[_Pair]:
    """Pair the definitions that have no counterpart with equal key, the most similar ones first."""
    matcher = _Matcher(files)
    todo: list[tuple[float, int, _Pair, _File]] = []
    added = [(version, file) for file in files for version in file.added]

    def add(number: int, version: Version, file: _File) -> None:
        pair = matcher.find(version, file)
        heappush(todo, (-_score(pair), number, pair, file))

    for number, (version, file) in enumerate(added):
        add(number, version, file)
    pairs = []
    while todo:
        _, number, pair, file = heappop(todo)
        if pair.new is not None and matcher.is_taken(pair.old):
            add(number, pair.new, file)
        else:
            matcher.take(pair.old)
            pairs.append(pair)
    gone = [version for file in files for version in file.gone]
    return [*pairs, *(_Pair(version, None) for version in gone if not matcher.is_taken(version))]


class _Matcher:
    """Finds the old version of a new definition among those without a counterpart that are still free."""

    def __init__(self, files: Sequence[_File]) -> None:
        self._gone = [version for file in files for version in file.gone]
        self._free = {id(version) for version in self._gone}
        self._deleted = {id(version) for file in files if not file.change.blob for version in file.gone}
        self._by_name: defaultdict[str, list[Version]] = defaultdict(list)
        for version in self._gone:
            self._by_name[version.element.name].append(version)
        self._has_names_only = len(self._gone) * sum(len(file.added) for file in files) > _MAX_PAIRS

    def is_taken(self, old: Version | None) -> bool:
        """Return whether another definition has an old version already."""
        return old is not None and id(old) not in self._free

    def take(self, old: Version | None) -> None:
        """Let a definition have an old version for good."""
        if old is not None:
            self._free.remove(id(old))

    def find(self, new: Version, file: _File) -> _Pair:
        """Return a new definition with the free old version that it resembles most, in its own file or another."""
        here = _Pair(self._find_in_file(new, file), new, file_moved=True)
        there = _Pair(self._find_elsewhere(new), new)
        return max(here, there, key=_score)

    def _find_in_file(self, new: Version, file: _File) -> Version | None:
        if file.old is None:
            return None
        is_renamed = file.change.old_path != file.change.path
        old = (find_in_renamed_file if is_renamed else find_in_file)(new, file.old)
        return old if old is not None and id(old) in self._free else None

    def _find_elsewhere(self, new: Version) -> Version | None:
        pool = self._by_name[new.element.name] if self._has_names_only else self._gone
        free = [old for old in pool if id(old) in self._free and old.path != new.path and _is_recognised(old, new)]
        if self._has_names_only and len(free) > _MAX_NAMESAKES:
            # Thousands of files may define `__init__`: those of another size cannot be the most similar one.
            free = sorted(free, key=lambda old: abs(old.tokens - new.tokens))[:_MAX_NAMESAKES]
        # In a file that still exists, a definition of the same name is more likely another one.
        match = find_among(new, [old for old in free if id(old) in self._deleted])
        return match or find_among(new, free, same_name=EXTRACTED)


def _score(pair: _Pair) -> float:
    """Return how likely two versions belong together; 0 without an old one."""
    if pair.old is None or pair.new is None:
        return 0.0
    is_named = pair.old.element.name == pair.new.element.name
    return similarity(pair.old.bag, pair.new.bag) + (_SAME_NAME if is_named else 0.0) + _ANY


def _is_recognised(old: Version, new: Version) -> bool:
    """Return whether two definitions of different files are alike by more than chance. Small ones need one symbol."""
    if min(old.tokens, new.tokens) >= _SMALL:
        return True
    return old.element.symbol == new.element.symbol


def _without_members(pairs: Sequence[_Pair]) -> list[tuple[_Pair, int]]:
    """Return the pairs with the number of their members; those that share the fate of their container are left out."""
    holders: defaultdict[tuple[str, bytes], list[_Pair]] = defaultdict(list)
    for pair in pairs:
        if _group(pair) != CHANGED and _shown(pair).element.holds:
            holders[_group(pair), _shown(pair).path].append(pair)
    members: Counter[int] = Counter()
    kept = []
    for pair in pairs:
        group, version = _group(pair), _shown(pair)
        holder = _holder(holders.get((group, version.path), ()), version)
        if holder is None or holder is pair or (group == MOVED and not _moved_with(pair, holder)):
            kept.append(pair)
        else:
            members[id(holder)] += 1
    return [(pair, members[id(pair)]) for pair in kept]


def _holder(holders: Iterable[_Pair], version: Version) -> _Pair | None:
    """Return the outermost of some containers around a definition."""
    element = version.element
    around = [pair for pair in holders if _contains(_shown(pair), element.start, element.end)]
    return min(around, key=lambda pair: _shown(pair).element.start, default=None)


def _contains(version: Version, start: int, end: int) -> bool:
    return version.element.start <= start and end <= version.element.end


def _moved_with(pair: _Pair, holder: _Pair) -> bool:
    """Return whether a moved definition came from inside of the moved container, unchanged."""
    old, above = pair.old, holder.old
    if old is None or above is None or pair.new is None:
        return False
    return old.path == above.path and _contains(above, old.element.start, old.element.end) and old.body == pair.new.body


def _group(pair: _Pair) -> str:
    """Return the group of a pair. Whatever has another path or symbol counts as moved."""
    if pair.old is None:
        return ADDED
    if pair.new is None:
        return REMOVED
    is_same = pair.old.element.symbol == pair.new.element.symbol and (pair.file_moved or pair.old.path == pair.new.path)
    return CHANGED if is_same else MOVED


def _shown(pair: _Pair) -> Version:
    version = pair.new or pair.old
    assert version is not None
    return version


def _to_changes(pairs: Iterable[tuple[_Pair, int]]) -> Iterator[ElementChange]:
    """Yield the changes of pairs, and free their versions."""
    for counted in pairs:
        yield _to_change(counted)
        pair, _ = counted
        for version in (pair.old, pair.new):
            if version is not None:
                version.release()


def _to_change(counted: tuple[_Pair, int]) -> ElementChange:
    pair, members = counted
    version, old, new = _shown(pair), pair.old, pair.new
    # Members that came or went are entries of their own here, so they are no change of the class as well.
    kinds: tuple[str, ...] = ()
    if old is not None and new is not None:
        kinds = compare(old, new, file_moved=pair.file_moved, members=False)
    before = old or version
    size = _line_difference(old.text if old is not None else b"", new.text if new is not None else b"")
    element = version.element
    place = (version.path, element.symbol, element.chunk_type, element.first_line, element.last_line)
    return ElementChange(
        _group(pair), kinds, *place, before.path, before.element.symbol, members, size, version.text
    )  # fmt: skip


def _whole_file(change: FileChange, old: FileVersion, new: FileVersion, *, is_text: bool) -> list[ElementChange]:
    """Return the change of a file whose definitions are not compared; without its lines if it is no readable text."""
    group = ADDED if not change.old_blob else REMOVED if not change.blob else CHANGED
    kinds: tuple[str, ...] = (BODY,) if group == CHANGED and change.old_blob != change.blob else ()
    if change.old_path != change.path:
        group, kinds = MOVED, (FILE_MOVE, *kinds)
    shown = old if group == REMOVED else new
    is_text = is_text and not (_is_binary(old) or _is_binary(new))
    size = _line_difference(old.data, new.data) if is_text else 0
    last = len(shown.data.splitlines()) if is_text else 0
    text = shown.data if is_text else b""
    return [ElementChange(group, kinds, shown.path, "", LINES, min(1, last), last, change.old_path, "", 0, size, text)]


def _loose_code(change: FileChange, old: FileVersion, new: FileVersion) -> list[ElementChange]:
    """Return the change of the code outside of all definitions, or of the file itself; none if both are as before."""
    before, after = _loose(old), _loose(new)
    moved = change.old_path != change.path
    differs = b"".join(before.split()) != b"".join(after.split())
    if not change.old_blob or not change.blob or not (moved or differs):
        return []
    kinds = ((FILE_MOVE,) if moved else ()) + ((BODY,) if differs else ())
    size = _line_difference(before, after) if differs else 0
    last = len(new.data.splitlines())
    group = MOVED if moved else CHANGED
    return [ElementChange(group, kinds, change.path, "", LINES, 1, last, change.old_path, "", 0, size, after)]


def _loose(file: FileVersion) -> bytes:
    """Return the text of a file outside of its definitions."""
    parts, at = [], 0
    for element in file.file.elements:
        if element.start > at:
            parts.append(file.data[at : element.start])
        at = max(at, element.end)
    return b"".join([*parts, file.data[at:]])


def _is_binary(file: FileVersion) -> bool:
    return b"\0" in file.data[:_BINARY_BYTES]


def _line_difference(old: bytes, new: bytes) -> int:
    """Return the number of lines that only one of two texts has."""
    return _lines(old).total() + _lines(new).total() - 2 * (_lines(old) & _lines(new)).total()


def _lines(text: bytes) -> Counter[bytes]:
    lines: Iterable[bytes] = (line.strip() for line in text.splitlines())
    return Counter(line for line in lines if line)
