"""Lines that refer to module-level names of Python, compared with those that jedi finds: recall of all relations.

Definitions are functions, classes and constants of plain modules, in random order. jedi, an extra, reads every file
with the name, so names in many files are left out.
"""

import argparse
import os
import random
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.answering.usage_answer import UsageQuery, usages_of
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from gitmem.named_tuple import NamedTuple
from gitmem.search.path_roles import path_role
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import run
from tests.bench.subjects import add_subject_options, git, iter_subjects, work_folder

LEAST_RECALL: Final = 0.95
RELATIONS: Final = ("definitions", "callers", "mentions", "importers", "subclasses", "implementers")
_MAX_FILES: Final = 25
_SHORTEST: Final = 4
_LIMIT: Final = 500
_DEFINITION: Final = re.compile(r"(?:def|class) (\w+)|(\w+)(?::[^=]*)? = ")

Line = tuple[str, int]
"""Path and number."""


class NamedLine(NamedTuple):
    """Line of a module that defines a name, and the column of the name."""

    path: str
    line: int
    column: int
    name: str


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the size of the sample."""
    add_subject_options(parser, 500)
    parser.add_argument("--names", type=int, default=60, help="definitions of each repository with references")
    parser.add_argument("--misses", action="store_true", help="print the lines that only jedi finds")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, and compare the lines that refer to its definitions."""
    warnings.simplefilter("ignore")
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            run(load_gitmem(options).index(subject.path))
            searcher = open_searcher(open_workspace(subject.path, os.environ), WORKING_TREE, ("code",), refresh=False)
            found = total = 0
            for definition, expected in _sample(subject.path, options.names):
                missed = expected - _lines_of(searcher, definition)
                total, found = total + len(expected), found + len(expected) - len(missed)
                for path, line in sorted(missed) if options.misses else ():
                    print(f"{path}:{line}: {definition.name}")
            recall = found / total if total else None
            figures.append(Figure(subject.name, "lines that refer to definitions", total))
            figures.append(Figure(subject.name, "recall of references", recall, at_least=LEAST_RECALL))
    return figures


def _lines_of(searcher: Searcher, definition: NamedLine) -> set[Line]:
    query = UsageQuery(f"{definition.path}:{definition.line}", RELATIONS, limit=_LIMIT)
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        answer = usages_of(searcher, query, reader)
    return {(place.path, place.line) for related in answer.relations for place in related.places}


def _sample(root: Path, count: int) -> Iterator[tuple[NamedLine, set[Line]]]:
    """Yield definitions in random order, each with the lines that refer to it, as jedi knows them."""
    import jedi  # an extra

    project = jedi.Project(str(root))
    files = {path for path in git(root, "ls-files", "-z", "--", "*.py").split("\0") if path}
    definitions = [each for path in sorted(files) if not path_role(path) for each in _definitions(root, path)]
    random.Random(7).shuffle(definitions)
    for each in definitions:
        if not count:
            return
        if len(_files_with(root, each.name)) > _MAX_FILES:
            continue
        script = jedi.Script(path=str(root / each.path), project=project)
        try:
            found = script.get_references(each.line, each.column, scope="project")
        except Exception:  # jedi fails on some code; it is no oracle there
            continue
        inside = [ref for ref in found if ref.module_path and not ref.is_definition()]
        inside = [ref for ref in inside if Path(ref.module_path).is_relative_to(root)]
        lines = {(Path(ref.module_path).relative_to(root).as_posix(), ref.line) for ref in inside}
        lines = {(path, line) for path, line in lines if path in files and (path, line) != (each.path, each.line)}
        if lines:
            count -= 1
            yield each, lines


def _definitions(root: Path, path: str) -> Iterator[NamedLine]:
    lines = (root / path).read_text("utf-8", "replace").split("\n")
    for number, line in enumerate(lines, 1):
        match = _DEFINITION.match(line)
        group = match.lastindex if match else None
        if match and group and len(match[group]) >= _SHORTEST and not match[group].startswith("__"):
            yield NamedLine(path, number, match.start(group), match[group])


def _files_with(root: Path, name: str) -> list[str]:
    return git(root, "grep", "-lw", "-e", name, "--", "*.py").split()
