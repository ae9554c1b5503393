"""Lines that refer to definitions, compared with those that an oracle finds: recall of all relations.

Definitions are functions, classes, members, variables and constants of plain files, in random order. The oracle reads
every file with the name, so names in many files are left out.
"""

import argparse
import os
import random
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.answering.usage_answer import UsageQuery, usages_of
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from gitmem.search.path_roles import path_role
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.definition_calls import AskedCall
from tests.bench.figures import Figure
from tests.bench.processes import run
from tests.bench.reference_oracles import REFERENCE_ORACLES, AskedName, Lines
from tests.bench.subjects import add_subject_options, git, iter_subjects, work_folder

LEAST_RECALL: Final = 0.95
RELATIONS: Final = ("definitions", "callers", "mentions", "importers", "subclasses", "implementers")
_MAX_FILES: Final = 25
_MAX_LINE: Final = 300
_SHORTEST: Final = 4
_LIMIT: Final = 900


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, the oracle and the size of the sample."""
    add_subject_options(parser, 500)
    parser.add_argument("--names", type=int, default=60, help="definitions of each repository")
    parser.add_argument("--oracle", choices=sorted(REFERENCE_ORACLES), help="who knows the references, by default jedi")
    parser.add_argument("--server", metavar="COMMAND", help="command of a language server")
    parser.add_argument("--typescript", type=Path, metavar="FOLDER", help="installed package `typescript`")
    parser.add_argument("--misses", action="store_true", help="print the lines that only the oracle finds")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, and compare the lines that refer to its definitions."""
    warnings.simplefilter("ignore")
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            run(load_gitmem(options).index(subject.path))
            searcher = open_searcher(open_workspace(subject.path, os.environ), WORKING_TREE, ("code",), refresh=False)
            found = total = 0
            for asked, expected in _expected(subject.path, options):
                lines = _lines_of(searcher, asked.place) if expected else set()
                misses = expected - (lines or set())
                total, found = total + len(expected), found + len(expected) - len(misses)
                where = "no definition at" if lines is None else "named in"
                for path, line in sorted(misses) if options.misses else ():
                    print(f"{path}:{line}: {asked.name}, {where} {asked.place.path}:{asked.place.line}")
            recall = found / total if total else None
            figures.append(Figure(subject.name, "lines that refer to definitions", total))
            figures.append(Figure(subject.name, "recall of references", recall, at_least=LEAST_RECALL))
    return figures


def _lines_of(searcher: Searcher, name: AskedCall) -> Lines | None:
    """Return the lines that gitmem lists; None if it knows no definition there."""
    query = UsageQuery(f"{name.path}:{name.line}", RELATIONS, limit=_LIMIT)
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        try:
            answer = usages_of(searcher, query, reader)
        except UsageError:
            return None
    return {(place.path, place.line) for related in answer.relations for place in related.places}


def _expected(root: Path, options: argparse.Namespace) -> Iterator[tuple[AskedName, Lines]]:
    """Yield definitions in random order, each with the lines that refer to it, as the oracle knows them."""
    oracle = REFERENCE_ORACLES[options.oracle or ("typescript" if options.typescript else "jedi")]
    files = sorted({path for path in git(root, "ls-files", "-z", "--", *oracle.files).split("\0") if path})
    names = [name for path in files if not path_role(path) for name in _definitions(root, path, oracle.definition)]
    random.Random(7).shuffle(names)
    rare = (each for each in names if _count_files(root, each.name, oracle.files) <= _MAX_FILES)
    sample = list(islice(rare, options.names))
    texts: dict[str, list[str]] = {}
    for asked, lines in zip(sample, oracle.answer(root, sample, oracle.files, options), strict=True):
        for path in {path for path, _ in lines} & set(files) - set(texts):
            texts[path] = (root / path).read_text("utf-8", "replace").split("\n")
        # In the expansion of a macro and under another name a definition is referred to without its own.
        named = {(path, line) for path, line in lines if path in texts and asked.name in texts[path][line - 1]}
        yield asked, named - {(asked.place.path, asked.place.line)}


def _definitions(root: Path, path: str, definition: re.Pattern[str]) -> Iterator[AskedName]:
    """Yield the names that a file defines."""
    if not (root / path).is_file():
        return
    for number, line in enumerate((root / path).read_text("utf-8", "replace").split("\n"), 1):
        match = definition.match(line) if len(line) <= _MAX_LINE else None
        group = match.lastindex if match else None
        if match and group and len(match[group]) >= _SHORTEST and not match[group].startswith("__"):
            yield AskedName(AskedCall(path, number, match.start(group)), match[group])


def _count_files(root: Path, name: str, files: Sequence[str]) -> int:
    return len(git(root, "grep", "-lw", "-e", name, "--", *files).splitlines())
