"""The lives of chunks in generated histories agree with an oracle that knows what each commit did."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.git.version_log import FileVersions
from gitmem.indexing.chunk_histories import ALIVE, UNKNOWN, ChunkHistories, Chunks

Tree = dict[bytes, frozenset[int]]
"""Chunks of each file."""

FILES: Final = (b"a.py", b"b.py", b"c.py")

ACTIONS: Final = ("add", "change", "remove", "move", "rename symbol", "rename file", "revert", "split", "absorb")

edits = st.tuples(st.sampled_from(ACTIONS), st.integers(0, 30), st.integers(0, 30))
picks = st.tuples(st.just("pick"), st.integers(0, 30), st.integers(0, 30))


@dataclass
class World:
    """Chunks that ever existed, by number, with their symbols and signatures, and the definition of each."""

    symbols: list[str] = field(default_factory=list)
    signatures: list[list[int]] = field(default_factory=list)
    definitions: list[int] = field(default_factory=list)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def make(self, definition: int = -1, symbol: str = "", signature: list[int] | None = None) -> int:
        """Make a chunk: a version of a definition, or the first one of another."""
        number = len(self.symbols)
        self.definitions.append(definition if definition >= 0 else number)
        self.symbols.append(symbol or f"symbol_{number}")
        self.signatures.append(signature or self.random.integers(0, 256, 32).tolist())
        return number

    def apply(self, tree: Tree, earlier: Tree, edit: tuple[str, int, int]) -> tuple[Tree, dict[bytes, bytes]]:
        """Return the tree after an edit, and the former paths of renamed files."""
        action, one, other = edit
        path, places = FILES[one % 3], [(path, chunk) for path in sorted(tree) for chunk in sorted(tree[path])]
        if action == "revert":
            return earlier, {}
        if action == "add" or not places:
            return with_chunks(tree, path, add={self.make()}), {}
        old, chunk = places[other % len(places)]
        if action == "remove":
            return with_chunks(tree, old, drop={chunk}), {}
        if action == "change":
            return with_chunks(tree, old, {self.make(self.definitions[chunk], self.symbols[chunk])}, {chunk}), {}
        if action == "split":
            return self._split(tree, old, chunk), {}
        if action == "absorb":
            return self._absorb(tree, old, chunk), {}
        if action == "rename symbol":
            new = self.make(self.definitions[chunk], "", self.signatures[chunk])
            return with_chunks(tree, old, {new}, {chunk}), {}
        if action == "move":
            return with_chunks(with_chunks(tree, old, drop={chunk}), path, add={chunk}), {}
        if path in tree:
            return tree, {}
        return {path if name == old else name: chunks for name, chunks in tree.items()}, {path: old}

    def _split(self, tree: Tree, path: bytes, chunk: int) -> Tree:
        """Move the text of a definition into a new one; what remains is its oldest version, or another one."""
        definition, symbol = self.definitions[chunk], self.symbols[chunk]
        same = [other for other in range(chunk) if self.definitions[other] == definition]
        former = [other for other in same if self.symbols[other] == symbol]
        rest = former[0] if former else self.make(definition, symbol)
        return with_chunks(tree, path, {rest, self.make(signature=self.signatures[chunk])}, {chunk})

    def _absorb(self, tree: Tree, path: bytes, chunk: int) -> Tree:
        """Move the text of a definition into another one of its file, if there is one."""
        others = sorted(tree[path] - {chunk})
        if not others:
            return tree
        heir = self.make(self.definitions[others[0]], self.symbols[others[0]])
        return with_chunks(tree, path, {heir}, {chunk, others[0]})


def with_chunks(
    tree: Tree, path: bytes, add: set[int] | frozenset[int] = frozenset(), drop: set[int] | frozenset[int] = frozenset()
) -> Tree:
    """Return a tree with a changed file; without chunks it is removed."""
    changed = (tree.get(path, frozenset()) | add) - drop
    return {**{name: chunks for name, chunks in tree.items() if name != path}, **({path: changed} if changed else {})}


def blob(chunks: frozenset[int] | None) -> str:
    return ",".join(map(str, sorted(chunks))) if chunks else ""


def members(oid: str) -> list[int]:
    return [int(number) for number in oid.split(",")] if oid else []


def difference(parents: list[Tree], tree: Tree, renamed: dict[bytes, bytes]) -> list[FileVersions]:
    """Return the files of a commit as git lists them: those that differ from all parents."""
    files = []
    for path in sorted({*tree, *(path for parent in parents for path in parent)}):
        before = [parent.get(renamed.get(path, path)) for parent in parents]
        is_source = path in renamed.values() and path not in tree
        if (not is_source and all(chunks != tree.get(path) for chunks in before)) or path in renamed:
            files.append(FileVersions(renamed.get(path, path), path, tuple(map(blob, before)), blob(tree.get(path))))
    return files


def follow(world: World, log: list[list[FileVersions]], tip: Tree) -> ChunkHistories:
    """Follow all chunks through the commits."""
    size = len(world.symbols)
    columns = [np.full(size, -1, np.int32) for _ in range(3)]
    signatures = np.array(world.signatures, np.uint8).reshape(size, 32)
    histories = ChunkHistories(Chunks(world.symbols, signatures), members, *columns)
    for number, files in enumerate(log):
        histories.add(number, files)
    histories.close({chunk for chunks in tip.values() for chunk in chunks})
    return histories


def chunks_of(tree: Tree) -> set[int]:
    return {chunk for chunks in tree.values() for chunk in chunks}


@settings(max_examples=200, deadline=None)
@given(st.lists(edits, max_size=25))
def test_lives_in_one_line_of_commits_are_exact(history: list[tuple[str, int, int]]) -> None:
    """The commits that introduce and remove code are those that did, and its versions stay together."""
    world, trees, log = World(), [Tree()], list[list[FileVersions]]()
    for edit in history:
        tree, renamed = world.apply(trees[-1], trees[max(0, len(trees) - 2)], edit)
        log.append(difference([trees[-1]], tree, renamed))
        trees.append(tree)
    histories = follow(world, log, trees[-1])
    states = [chunks_of(tree) for tree in trees]
    for chunk, definition in enumerate(world.definitions):
        present = [number for number, state in enumerate(states) if chunk in state]
        if not present:
            continue
        # State n + 1 is that after commit n.
        assert histories.introduced[chunk] == present[0] - 1
        assert histories.removed[chunk] == (ALIVE if present[-1] == len(log) else present[-1])
        same = [other for other in chunks_seen(states) if world.definitions[other] == definition]
        assert {int(histories.group[other]) for other in same} == {int(histories.group[chunk])}
    groups = {int(histories.group[chunk]) for chunk in chunks_seen(states)}
    assert len(groups) == len({world.definitions[chunk] for chunk in chunks_seen(states)})


def chunks_seen(states: list[set[int]]) -> set[int]:
    return set[int]().union(*states)


CRISS_CROSS: Final = [
    (("add", 0, 0), 0, False, 0),
    (("add", 1, 0), 0, False, 0),
    (("add", 2, 0), 1, False, 0),
    (("add", 0, 0), 0, True, 2),
    (("add", 0, 0), 1, True, 2),
    (("change", 0, 0), 0, False, 0),
    (("add", 0, 0), 0, True, 4),
]
"""Two branches that merge each other, one of which goes on before they become one."""


@settings(max_examples=200, deadline=None)
@example(CRISS_CROSS)
@given(st.lists(st.tuples(edits | picks, st.integers(0, 5), st.booleans(), st.integers(0, 5)), max_size=25))
def test_lives_in_branches_and_merges_are_sound(
    history: list[tuple[tuple[str, int, int], int, bool, int]],
) -> None:
    """In any history a chunk is introduced by its first commit, and removed by one that lacks it."""
    world, trees, parents, log = World(), [Tree()], [list[int]()], list[list[FileVersions]]()
    for edit, back, merges, other in history:
        first = max(0, len(trees) - 1 - back)
        sides = [first, other] if merges and other < first else [first]
        start = merge(trees[sides[0]], trees[sides[-1]])
        tree, renamed = start, dict[bytes, bytes]()
        if len(sides) == 1 and edit[0] == "pick":
            number = edit[1] % len(trees)
            tree = pick(start, trees[parents[number][0]] if parents[number] else Tree(), trees[number])
        elif len(sides) == 1:
            tree, renamed = world.apply(start, trees[0], edit)
        log.append(difference([trees[side] for side in sides], tree, renamed))
        trees.append(tree)
        parents.append(sides)
    histories = follow(world, log, trees[-1])
    states = [chunks_of(tree) for tree in trees]
    for chunk in sorted(chunks_seen(states)):
        assert histories.introduced[chunk] == next(n for n, state in enumerate(states) if chunk in state) - 1
        removed = int(histories.removed[chunk])
        assert (removed == ALIVE) == (chunk in states[-1])
        if removed not in (ALIVE, UNKNOWN):
            assert chunk not in states[removed + 1]
            assert any(chunk in states[side] for side in parents[removed + 1])


def pick(tree: Tree, before: Tree, after: Tree) -> Tree:
    """Return a tree with the change of another commit."""
    for path in sorted({*before, *after}):
        old, new = before.get(path, frozenset()), after.get(path, frozenset())
        tree = with_chunks(tree, path, new - old, old - new)
    return tree


def merge(one: Tree, other: Tree) -> Tree:
    """Return a merge that takes all chunks of both sides."""
    return {path: one.get(path, frozenset()) | other.get(path, frozenset()) for path in {*one, *other}}
