"""Flipped bits, cuts and zeroed tails in every file of the store: the same answer or a clean error, and no crash.

Cases run in children that are copies of this process, so that one which is killed by its input is seen and named.
"""

import mmap
import os
import pickle
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from gitmem.errors import DamagedFile, GitmemError, NewerFormat, UnsafeIndex
from gitmem.references.tree_names import TreeNames
from gitmem.search.engine import SearchOptions, search
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Filters, Scope
from gitmem.store.fitted_weights import Tuning, find_tuning, write_tuning
from gitmem.store.graph import RowGraph, build_graph, find_graph, is_available, write_graph
from gitmem.store.manifest import write_manifest
from gitmem.store.occurrences import DEFINED
from gitmem.store.section import Section
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_view
from gitmem.workspace import Workspace, find_index
from tests.faults.oracle import small_steps
from tests.faults.report import Tally
from tests.faults.worlds import SCENARIOS, make
from tests.indexes import HashEncoder, index, workspace_of

QUESTIONS: Final = ("base load", "more_save_3", "cookies are signed")
NAMES: Final = ("base_load_3", "more_save_3", "nobody")
BATCH: Final = 250
CONTROL_BATCH: Final = 20
_ANSWER_BYTES: Final = 1 << 20

Harm = Callable[[bytearray, random.Random], str]
Tell = Callable[[Workspace], Any]
"""What an index answers, as values that can be compared; a text if it refuses to."""


class Case(NamedTuple):
    """One file changed in one way."""

    file: Path
    harm: Harm
    seed: int


def flip(data: bytearray, chance: random.Random) -> str:
    """One wrong bit; every third one in the first 256 bytes, where the headers are."""
    place = chance.randrange(min(len(data), 256) if chance.random() < 1 / 3 else len(data))
    data[place] ^= 1 << chance.randrange(8)
    return f"bit flipped at {place}"


def cut(data: bytearray, chance: random.Random) -> str:
    """The end is missing."""
    length = chance.randrange(len(data))
    del data[length:]
    return f"cut to {length}"


def zero(data: bytearray, chance: random.Random) -> str:
    """The end is zeros, as some file systems leave it after a crash."""
    place = chance.randrange(len(data))
    data[place:] = bytes(len(data) - place)
    return f"zeros from {place}"


def scramble(data: bytearray, chance: random.Random) -> str:
    """A block of noise."""
    place = chance.randrange(len(data))
    end = min(len(data), place + chance.choice((4, 64, 4096)))
    data[place:end] = chance.randbytes(end - place)
    return f"noise from {place} to {end}"


HARMS: Final[tuple[Harm, ...]] = (flip, flip, flip, flip, cut, cut, zero, scramble)


def make_index(folder: Path) -> Workspace:
    """An index with segments, a view, a graph and fitted weights."""
    repo = make(SCENARIOS[1], folder / "repo")
    index(repo)
    workspace = workspace_of(repo)
    manifest = find_index(workspace)
    assert manifest is not None
    if is_available():
        name = write_graph(workspace.paths, build_graph(Snapshot(workspace.paths, manifest), None, lambda *_: None))
        write_manifest(workspace.paths.manifest, manifest._replace(graph=name))
    write_tuning(workspace.paths.tuning, Tuning("maker", 1.0, 0.5, 0.01, 40))
    return workspace


def tell(workspace: Workspace) -> Any:
    """What the index answers, or that it refuses to."""
    try:
        manifest = find_index(workspace)
        if manifest is None or not manifest.views:
            return "no index"
        paths = workspace.paths
        snapshot = Snapshot(paths, manifest)
        view = find_view(paths.view(manifest.views[-1]))
        if snapshot.lost or view is None:
            return "lost"
        graph = find_graph(paths, manifest.graph, snapshot.dimensions)
        told: list[Any] = [find_tuning(paths.tuning), _definitions(TreeNames(snapshot, view, snapshot.match(view)))]
        for filters in (Filters(), Filters(include=("base/",), languages=("python",), chunk_types=("function",))):
            scope = Scope(snapshot, view, filters)
            for question in QUESTIONS:
                seen = RowGraph(graph, snapshot) if graph is not None else None
                hits = search(
                    [scope],
                    parse_query(question),
                    HashEncoder(),
                    limit=5,
                    options=SearchOptions(graph=seen),
                    min_score=0,
                ).hits
                told.append([(hit.path, hit.start, hit.end, hit.start_line, hit.symbol, hit.score) for hit in hits])
        return told
    except (DamagedFile, UnsafeIndex, NewerFormat) as problem:
        return type(problem).__name__


def _definitions(names: TreeNames) -> list[Any]:
    """The files in which names occur, and all definitions in them."""
    entries = [entry for name in NAMES for entry in names.entries(name, DEFINED).tolist()]
    return [(entry, each) for entry in entries for each in names.file(entry).all_definitions()]


def try_case(workspace: Workspace, case: Case, wanted: Any, tell: Tell = tell) -> list[str]:
    """Harm a file, ask, put it back; what was wrong with the answer."""
    whole = case.file.read_bytes()
    data = bytearray(whole)
    done = case.harm(data, random.Random(case.seed))
    case.file.unlink()
    case.file.write_bytes(data)
    try:
        told = tell(workspace)
        return [] if told == wanted or isinstance(told, str) else [f"{done}: another answer"]
    except GitmemError as problem:
        return [f"{done}: {type(problem).__name__}: {problem}"]
    except Exception as problem:
        return [f"{done}: {type(problem).__name__}: {problem}"]
    finally:
        case.file.write_bytes(whole)


def run_cases(
    workspace: Workspace, cases: list[Case], wanted: Any, tell: Tell = tell
) -> Iterator[tuple[Case, list[str]]]:
    """Try cases in a copy of this process; one that kills it counts as bad, and the others go on after it."""
    while cases:
        answers = mmap.mmap(-1, _ANSWER_BYTES)
        child = os.fork()
        if child == 0:
            _serve(workspace, cases, wanted, tell, answers)
        status = os.waitpid(child, 0)[1]
        found: list[list[str]] = []
        answers.seek(0)
        while (length := int.from_bytes(answers.read(8), "little")) > 0:
            found.append(pickle.loads(answers.read(length)))
        yield from zip(cases, found, strict=False)
        cases = cases[len(found) :]
        if cases:
            yield cases[0], [f"the process ended with {os.waitstatus_to_exitcode(status)}"]
            cases = cases[1:]


def _serve(workspace: Workspace, cases: list[Case], wanted: Any, tell: Tell, answers: mmap.mmap) -> None:
    """Take each answer down as soon as it is known. Never returns."""
    code = 1
    try:
        with np.errstate(all="ignore"):
            for case in cases:
                packed = pickle.dumps(try_case(workspace, case, wanted, tell))
                answers.write(len(packed).to_bytes(8, "little") + packed)
        code = 0
    finally:
        os._exit(code)


def store_files(workspace: Workspace) -> list[Path]:
    """Every file of an index that is read."""
    root = workspace.paths.root
    return sorted(path for path in root.rglob("*") if path.is_file() and path.name not in ("lock", ".gitignore"))


def choose_cases(files: list[Path], number: int) -> list[Case]:
    """Files and harms in turn, places by chance."""
    return [Case(files[at % len(files)], HARMS[at // len(files) % len(HARMS)], at) for at in range(number)]


def run(*, long: bool) -> Tally:
    """Twenty thousand cases, or some of each file and harm."""
    tally = Tally("flipped bits, cuts, zeros and noise")
    with tempfile.TemporaryDirectory() as place, small_steps():
        _run(Path(place), tally, 20_000 if long else 120)
    return tally


def run_control() -> Tally:
    """The same by a reader that looks at no checksum."""
    tally = Tally("the same without checksums", control=True)
    with tempfile.TemporaryDirectory() as place, small_steps(), without_checksums():
        _run(Path(place), tally, 120)
    return tally


def _run(folder: Path, tally: Tally, number: int) -> None:
    workspace = make_index(folder)
    wanted = tell(workspace)
    assert isinstance(wanted, list)
    assert sum(map(bool, wanted)) > len(QUESTIONS)
    harm_files(workspace, store_files(workspace), number, wanted, tally)


def harm_files(
    workspace: Workspace, files: list[Path], number: int, wanted: Any, tally: Tally, tell: Tell = tell
) -> None:
    """Try so many cases on some files of an index; a control ends with the first that is bad."""
    cases = choose_cases(files, number)
    batch = CONTROL_BATCH if tally.control else BATCH
    for start in range(0, len(cases), batch):
        for case, bad in run_cases(workspace, cases[start : start + batch], wanted, tell):
            tally.note(f"{case.file.relative_to(workspace.paths.root)} ({case.harm.__name__} {case.seed})", bad)
        if tally.decided:
            break


@contextmanager
def without_checksums() -> Iterator[None]:
    """Let every block pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Section, "check_block", lambda section, block: None)
        yield
