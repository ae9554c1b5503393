"""Whether a name finds its definition: the mean reciprocal rank among the results for the name.

The classes are those of plain code whose name, spelled alike, no other file gives a class; any result in the file is
right.
Names of one word are the hard ones: many other names, paths and texts have that word. Names of functions have only one
right result as well, but a function and a class may differ in case alone.

The members are qualified by their class (`Cache.get`), which alone has such a member, while at least three files define
one of that name; a result with the line is right.

Names in words (`copy to clipboard` for `copyToClipboard`) are those of functions with a stop word, and of functions for
conversions that have an opposite (`convert rgb to hsv` for `rgb2hsv`). One file defines each.
"""

import argparse
import os
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gitmem.answering.searched_trees import path_weight
from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.references.file_names import CLASS, FUNCTION, Definition
from gitmem.search.stop_words import STOP_WORDS
from gitmem.words import split_identifier
from gitmem.workspace import open_workspace
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.inprocess import open_answers
from tests.bench.processes import run
from tests.bench.scoring import Place, mean
from tests.bench.subjects import Subject, add_subject_options, iter_subjects, work_folder

LEAST: Final = 0.93
LEAST_IN_WORDS: Final = 0.9
"""Least mean reciprocal ranks."""

_SHORTEST: Final = 3
_HEADERS: Final = (".h", ".hh", ".hpp", ".hxx")
_FILES: Final = 3
"""Fewest files that define the own name of a member."""

_WORDS: Final = range(3, 7)
"""Numbers of words of a name in words."""

_CONVERSION: Final = re.compile(r"_*([A-Za-z]{2,}?\d*)(To|_to_|2)([A-Za-z]\w+)")
_SEED: Final = 7


class Ranks(NamedTuple):
    """Reciprocal ranks of the classes and members of one repository, and of its functions whose names are in words."""

    classes: list[float]
    members: list[float]
    spoken: list[float]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of names."""
    add_subject_options(parser, 1)
    parser.add_argument("--names", type=int, default=30, help="most names of each kind in a repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Search each repository for the names of its classes."""
    ranks: dict[str, Ranks] = {}
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            ranks[subject.name] = measure_subject(subject, options.names, load_gitmem(options))
    return [
        *(Figure(name, "reciprocal rank of classes", mean(own.classes)) for name, own in ranks.items() if own.classes),
        *(Figure(name, "reciprocal rank of members", mean(own.members)) for name, own in ranks.items() if own.members),
        *summarise("classes", [rank for own in ranks.values() for rank in own.classes]),
        *(Figure(name, "reciprocal rank in words", mean(own.spoken)) for name, own in ranks.items() if own.spoken),
        *summarise("members", [rank for own in ranks.values() for rank in own.members]),
        *summarise("names in words", [rank for own in ranks.values() for rank in own.spoken], LEAST_IN_WORDS),
    ]


def summarise(kind: str, ranks: Sequence[float], least: float = LEAST) -> list[Figure]:
    """Return the figures of all queries of a kind, with the least mean of the reciprocal ranks."""
    if not ranks:
        return []
    return [
        Figure(f"{len(ranks)} {kind}", "reciprocal rank", mean(ranks), at_least=least),
        Figure(f"{len(ranks)} {kind}", "first", mean(float(rank == 1) for rank in ranks)),
    ]


def measure_subject(subject: Subject, names: int, gitmem: Gitmem) -> Ranks:
    """Return the reciprocal ranks of the names."""
    run(gitmem.index(subject.path))
    definitions = find_definitions(subject.path)
    search = open_answers(subject.path)
    classes = choose_names(find_classes(definitions), names)
    members = choose_members(definitions, names)
    spoken = choose_spoken(definitions, names)
    return Ranks(
        [reciprocal_rank(search(name), path) for name, path in classes],
        [reciprocal_rank(search(name), path, line) for name, path, line in members],
        [reciprocal_rank(search(words), path, line) for words, path, line in spoken],
    )


def reciprocal_rank(results: Sequence[Place], path: str, line: int | None = None) -> float:
    """Return 1 / rank of the first result in a file, with a line of it if given; 0 without one."""
    return next(
        (
            1 / rank
            for rank, result in enumerate(results, 1)
            if result.path == path and (line is None or result.start <= line <= result.end)
        ),
        0.0,
    )


def find_definitions(folder: Path) -> dict[str, list[Definition]]:
    """Return the definitions in plain code, by its path."""
    searcher = open_searcher(open_workspace(folder, os.environ), WORKING_TREE, refresh=False)
    graph = searcher.names.graph(path_weight, lambda: None)
    files = map(searcher.names.file, graph.files(np.arange(len(graph.blob_of)))[1].tolist())
    return {file.path: file.all_definitions() for file in files if path_weight(file.path) == 1}


def find_classes(definitions: Mapping[str, Sequence[Definition]]) -> dict[str, set[str]]:
    """Return the paths that define a class, by its name."""
    classes: dict[str, set[str]] = {}
    for path, own in definitions.items():
        for each in own:
            if each.kind == CLASS:
                classes.setdefault(each.name, set()).add(path)
    return classes


def choose_members(definitions: Mapping[str, Sequence[Definition]], count: int) -> list[tuple[str, str, int]]:
    """Return names of members with their classes, their files and lines. At least three files define each own name.

    Headers of C and C++ are left out: most of them declare what another file defines, and that is the better result.
    """
    paths: dict[str, set[str]] = {}
    places: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for path, own in definitions.items():
        classes = {each.name for each in own if each.kind == CLASS}
        for each in own:
            paths.setdefault(each.name, set()).add(path)
            if (
                not path.endswith(_HEADERS)
                and each.container
                and each.container[-1] in classes.difference((each.name,))
            ):
                places.setdefault((each.container[-1], each.name), []).append((path, each.line))
    single = sorted(
        (f"{name[0]}.{name[1]}", *where[0])
        for name, where in places.items()
        if len(where) == 1 and len(paths[name[1]]) >= _FILES and all(map(str.isidentifier, name))
    )
    return random.Random(_SEED).sample(single, min(count, len(single)))


def choose_spoken(definitions: Mapping[str, Sequence[Definition]], count: int) -> list[tuple[str, str, int]]:
    """Return names of functions in words, with their files and lines."""
    places: dict[str, list[tuple[str, int]]] = {}
    for path, own in definitions.items():
        for each in own:
            if each.kind == FUNCTION and not path.endswith(_HEADERS):
                places.setdefault(each.name, []).append((path, each.line))
    single = {name: where[0] for name, where in places.items() if len({path for path, _ in where}) == 1}
    folded = {_fold(name) for name in single}
    queries = {words: name for name in single for words in _say(name, folded)}
    chosen = random.Random(_SEED).sample(sorted(queries), min(count, len(queries)))
    return [(words, *single[queries[words]]) for words in chosen]


def _say(name: str, others: Collection[str]) -> Iterator[str]:
    """Yield the words for a name that has a stop word, or for a conversion whose opposite is among the others."""
    match = _CONVERSION.fullmatch(name)
    if match is not None and _fold(match[3] + match[2] + match[1]) in others:
        yield f"convert {_words_of(match[1])} to {_words_of(match[3])}"
        return
    words = _words_of(name).split()
    if len(words) in _WORDS and not STOP_WORDS.isdisjoint(words) and not name.lower().startswith("test"):
        yield " ".join(words)


def _words_of(name: str) -> str:
    return " ".join(part.lower() for part in split_identifier(name))


def _fold(name: str) -> str:
    return name.replace("_", "").lower()


def choose_names(classes: dict[str, set[str]], count: int) -> list[tuple[str, str]]:
    """Return names that one file gives a class, with the file: names of one word, and others to make up the number."""
    single = sorted(name for name, paths in classes.items() if len(paths) == 1 and is_typed(name))
    short = [name for name in single if name[1:].islower() or name[1:].isupper()]
    long = [name for name in single if name not in set(short)]
    choice = random.Random(_SEED)
    chosen = choice.sample(short, min(count, len(short)))
    chosen += choice.sample(long, min(count - len(chosen), len(long)))
    return [(name, next(iter(classes[name]))) for name in chosen]


def is_typed(name: str) -> bool:
    """Return whether a name is one that a user types to find a class, and that prose does not have."""
    return len(name) >= _SHORTEST and name.isidentifier() and name[:1].isupper()
