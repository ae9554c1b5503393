"""Generated histories: the changes that were applied to a function are the changes that are found.

The oracle knows what each commit did to each function of each branch. Functions have bodies of their own, so none can
be taken for another. Commits are written by `git fast-import`, one process for a whole history.
"""

from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitmem.history.changes import BODY, DOCUMENTATION, FILE_MOVE, INTRODUCED, MOVE, RENAME, SIGNATURE
from tests.gitrepo import Repo
from tests.history.tracing import trace

FILES = ("a.py", "b.py", "c.py")
CHANGES = ("body", "signature", "document", "rename", "move", "move file", "add", "remove", "revert", "undo", "split",
           "absorb", "branch", "merge", "pick", "cross")  # fmt: skip


@dataclass(frozen=True)
class Function:
    """Function with the state that its text is made of. `number` identifies it for good."""

    number: int
    name: str
    lines: tuple[str, ...]
    parameters: tuple[str, ...] = ("value",)
    comment: str = ""

    def text(self) -> str:
        head = f"# {self.comment}\n" if self.comment else ""
        return f"{head}def {self.name}({', '.join(self.parameters)}):\n" + "".join(
            f"    {line}\n" for line in self.lines
        )


@dataclass(frozen=True)
class State:
    """Files of a commit, and the subjects and kinds of the changes of each function, newest last."""

    files: dict[str, tuple[Function, ...]]
    histories: dict[int, tuple[tuple[str, tuple[str, ...]], ...]]


@dataclass
class World:
    """Branches with their states, and the commits written so far in the language of fast-import."""

    branches: dict[str, tuple[int, State]] = field(default_factory=dict)
    current: str = "main"
    base: State = field(default_factory=lambda: State({}, {}))
    """State of the merge base of both branches."""

    stream: list[str] = field(default_factory=list)
    marks: "count[int]" = field(default_factory=lambda: count(1))
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def state(self) -> State:
        return self.branches[self.current][1]

    def commit(self, state: State, other: int | None = None) -> None:
        """Write a commit with the files of a state, on top of the current branch."""
        mark = next(self.marks)
        parent = self.branches[self.current][0] if self.current in self.branches else None
        subject = f"c{mark}"
        author = f"committer A <a@example.invalid> {1_700_000_000 + mark} +0000"
        lines = [f"commit refs/heads/{self.current}", f"mark :{mark}", author, f"data {len(subject)}", subject]
        lines += [f"from :{parent}"] if parent else []
        lines += [f"merge :{other}"] if other else []
        lines.append("deleteall")
        for path, functions in state.files.items():
            text = "import os\n\n\n" + "\n\n".join(function.text() for function in functions)
            lines += [f"M 100644 inline {path}", f"data {len(text)}", text]
        self.stream.append("\n".join(lines) + "\n")
        self.branches[self.current] = mark, state

    def next_subject(self, later: int = 0) -> str:
        """Return the subject that the next commit will have, or one that many commits later."""
        return f"c{len(self.stream) + 1 + later}"


def new_function(world: World) -> Function:
    number = next(world.numbers)
    lines = [f"step{number}_{line} = first{number}_{line}(value) + second{number}_{line}(value)" for line in range(6)]
    return Function(number, f"name{number}", tuple(lines))


def record(state: State, number: int, subject: str, *kinds: str) -> State:
    steps = (*state.histories.get(number, ()), (subject, kinds))
    return State(state.files, {**state.histories, number: steps})


def put(state: State, path: str, old: Function | None, new: Function | None) -> State:
    """Replace, add or remove a function of a file. A file without functions stays."""
    functions = [new if each == old else each for each in state.files.get(path, ())]
    if old is None:
        functions.append(new)
    return State({**state.files, path: tuple(each for each in functions if each is not None)}, state.histories)


def apply(world: World, change: str, choice: int) -> None:
    """Apply a change to the current branch, if there is something that it fits."""
    state, subject = world.state, world.next_subject()
    places = [(path, each) for path, functions in sorted(state.files.items()) for each in functions]
    path, function = places[choice % len(places)]
    number = function.number
    if change == "add":
        added = new_function(world)
        world.commit(record(put(state, path, None, added), added.number, subject, INTRODUCED))
    elif change == "remove" and len(state.files[path]) > 1:
        world.commit(put(state, path, function, None))
    elif change == "body":
        edited = Function(
            number, function.name, (*function.lines, f"extra{subject} = value"), function.parameters, function.comment
        )
        world.commit(record(put(state, path, function, edited), number, subject, BODY))
    elif change == "signature":
        edited = Function(
            number, function.name, function.lines, (*function.parameters, f"more{subject}"), function.comment
        )
        world.commit(record(put(state, path, function, edited), number, subject, SIGNATURE))
    elif change == "document":
        edited = Function(number, function.name, function.lines, function.parameters, f"Text {subject}.")
        world.commit(record(put(state, path, function, edited), number, subject, DOCUMENTATION))
    elif change == "rename":
        edited = Function(number, f"renamed{subject}", function.lines, function.parameters, function.comment)
        world.commit(record(put(state, path, function, edited), number, subject, RENAME))
    elif change == "move" and len(state.files[path]) > 1:
        target = next(name for name in FILES if name != path)
        moved = put(put(state, path, function, None), target, None, function)
        world.commit(record(moved, number, subject, MOVE))
    elif change == "move file" and f"moved_{path}" not in state.files:
        files = {f"moved_{path}" if name == path else name: functions for name, functions in state.files.items()}
        moved = State(files, state.histories)
        for each in state.files[path]:
            moved = record(moved, each.number, subject, FILE_MOVE)
        world.commit(moved)
    elif change == "revert" and function.comment:
        edited = Function(number, function.name, function.lines, function.parameters)
        world.commit(record(put(state, path, function, edited), number, subject, DOCUMENTATION))
    elif change in ("undo", "split", "absorb"):
        divide(world, change, path, function)
    else:
        combine(world, change, path, function)


def divide(world: World, change: str, path: str, function: Function) -> None:
    """Split half of a function off as a new one that it calls, let it absorb the next one, or undo a change."""
    state, subject = world.state, world.next_subject()
    functions = state.files[path]
    if change == "undo" and function.lines[-1].startswith("extra"):
        edited = replace(function, lines=function.lines[:-1])
        world.commit(record(put(state, path, function, edited), function.number, subject, BODY))
    if change == "split" and len(function.lines) >= 6:
        half = len(function.lines) // 2
        part = replace(new_function(world), lines=function.lines[half:], parameters=function.parameters)
        rest = replace(function, lines=(*function.lines[:half], f"return {part.name}(value)"))
        state = put(put(state, path, function, rest), path, None, part)
        state = record(state, function.number, subject, BODY)
        world.commit(record(state, part.number, subject, INTRODUCED))
    elif change == "absorb" and function != functions[-1]:
        other = functions[functions.index(function) + 1]
        whole = replace(function, lines=(*function.lines, *other.lines))
        state = put(put(state, path, function, whole), path, other, None)
        world.commit(record(state, function.number, subject, BODY))


def combine(world: World, change: str, path: str, function: Function) -> None:
    """Apply a change that concerns two branches: branch off, merge one or both ways, or pick a commit of the other."""
    other = "side" if world.current == "main" else "main"
    if change == "branch":
        if other not in world.branches:
            world.branches[other] = world.branches[world.current]
            world.base = world.state
        world.current = other
    elif change in ("merge", "cross") and other in world.branches:
        mark, theirs = world.branches[other]
        own = world.branches[world.current]
        merged = merge(own[1], theirs, world.base, world.next_subject())
        reverse = merge(theirs, own[1], world.base, world.next_subject(1))
        if merged is not None and reverse is not None and mark != own[0]:
            world.commit(merged, mark)
            world.base = theirs
            if change == "cross":
                world.current = other
                world.commit(reverse, own[0])
                world.base = merged
    elif change == "pick" and other in world.branches:
        # The same change on both branches, each in a commit of its own, as a cherry-pick makes it.
        twin = next((each for each in world.branches[other][1].files.get(path, ()) if each == function), None)
        if twin is not None:
            edited = Function(
                function.number,
                function.name,
                (*function.lines, "picked = value"),
                function.parameters,
                function.comment,
            )
            for branch in (other, world.current):
                state, subject = world.branches[branch][1], world.next_subject()
                kept, world.current = world.current, branch
                world.commit(record(put(state, path, function, edited), function.number, subject, BODY))
                world.current = kept


class FilePaths(NamedTuple):
    """Paths of one file in both sides of a merge, in their base, and in the merge."""

    one: str
    other: str
    base: str
    merged: str


def match_files(one: State, other: State, base: State) -> list[FilePaths] | None:
    """Return the files of a merge, each with its paths; None if files came or went, or functions of one did."""
    if not len(one.files) == len(other.files) == len(base.files):
        return None
    files = []
    for path, functions in base.files.items():
        target, numbers = f"moved_{path}", [each.number for each in functions]
        paths = [next((name for name in (target, path) if name in state.files), "") for state in (one, other)]
        if any([each.number for each in state.files.get(name, ())] != numbers
               for state, name in zip((one, other), paths, strict=True)):  # fmt: skip
            return None
        files.append(FilePaths(paths[0], paths[1], path, target if target in paths else path))
    return files


def merge(one: State, other: State, base: State, subject: str) -> State | None:
    """Merge two states function by function; None if both changed one, or if files or functions came or went.

    As in git's own simplification, a file that is as in one parent has the history of that parent, the first if both
    have it. In a file that is as in neither, a function has the changes of each side from which it is. If that side has
    the file under another path, the merge moved it.
    """
    files, histories = {}, dict(one.histories)
    for paths in match_files(one, other, base) or ():
        sides = [(one, paths.one), (other, paths.other)]
        versions = list(zip(one.files[paths.one], other.files[paths.other], base.files[paths.base], strict=True))
        if any(own != their and before not in (own, their) for own, their, before in versions):
            return None
        merged = files[paths.merged] = tuple(their if own == before else own for own, their, before in versions)
        same = [side for side in sides if side[1] == paths.merged and side[0].files[side[1]] == merged][:1] or sides
        for place, function in enumerate(merged):
            having = [(state, path) for state, path in same if state.files[path][place] == function]
            unmoved = [side for side in having if side[1] == paths.merged]
            steps = [step for state, _ in unmoved or having for step in state.histories[function.number]]
            moves = [] if unmoved else [(subject, (FILE_MOVE,))]
            histories[function.number] = tuple(dict.fromkeys([*steps, *moves]))
    return State(files, histories) if files else None


Steps = list[tuple[str, int]]
steps = st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 50)), min_size=4, max_size=14)
unhurried = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def write_history(folder: Path, changes: Steps) -> tuple[Repo, World]:
    """Write a repository with a history of changes, and return both."""
    world = World()
    first, second = new_function(world), new_function(world)
    start = State({"a.py": (first, second)}, {})
    for function in (first, second):
        start = record(start, function.number, "c1", INTRODUCED)
    world.commit(start)
    for change, place in changes:
        apply(world, change, place)
    repo = Repo.init(folder)
    tip = f"reset refs/heads/tip\nfrom :{world.branches[world.current][0]}\n"
    repo.git("fast-import", "--quiet", stdin="".join([*world.stream, tip]).encode())
    return repo, world


def choose_function(world: World, choice: int) -> tuple[str, Function]:
    """Return a function that still exists, with its path."""
    places = [(path, each) for path, functions in sorted(world.state.files.items()) for each in functions]
    return places[choice % len(places)]


# One side moved the file, and the other one changed the function.
@example([("branch", 0), ("move file", 0), ("body", 1), ("branch", 0), ("body", 0), ("merge", 0)], 0)
@example([("branch", 0), ("body", 0), ("branch", 0), ("move file", 0), ("body", 1), ("cross", 0), ("body", 0)], 0)
# Both sides of a merge changed the file, and one of them the function.
@example([("branch", 0), ("body", 0), ("branch", 0), ("body", 1), ("merge", 0)], 0)
@example([("branch", 0), ("body", 0), ("branch", 0), ("body", 1), ("cross", 0), ("body", 0)], 0)
@example([("body", 0), ("branch", 0), ("pick", 0), ("merge", 0)], 0)
@example([("split", 0), ("move file", 0), ("absorb", 0), ("body", 0), ("undo", 0)], 0)
@settings(max_examples=100, suppress_health_check=unhurried)
@given(steps, st.integers(0, 50))
def test_the_applied_changes_are_found(tmp_path_factory: pytest.TempPathFactory, changes: Steps, choice: int) -> None:
    repo, world = write_history(Path(tmp_path_factory.mktemp("history")), changes)
    path, function = choose_function(world, choice)
    found = {(step.subject, step.kinds) for step in trace(repo, path, function.name, "tip")}
    assert found == set(world.state.histories[function.number])


@example([("body", 0), ("branch", 0), ("body", 0), ("branch", 0), ("body", 1), ("merge", 0)], 0, 2)
@example([("move", 0), ("rename", 0), ("body", 0), ("move file", 0)], 0, 2)
@settings(max_examples=30, suppress_health_check=unhurried)
@given(steps, st.integers(0, 50), st.integers(1, 14))
def test_a_trace_of_a_range_is_that_part_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, changes: Steps, choice: int, length: int
) -> None:
    repo, world = write_history(Path(tmp_path_factory.mktemp("history")), changes)
    path, function = choose_function(world, choice)
    commits = repo.git("rev-list", "--topo-order", "tip").split()
    since = commits[min(length, len(commits) - 1)]
    inside = set(repo.git("log", "--format=%s", f"{since}..tip").split())
    found = {(step.subject, step.kinds) for step in trace(repo, path, function.name, "tip", since)}
    assert found == {step for step in world.state.histories[function.number] if step[0] in inside}
