"""Lines that refer to names of modules, compared with those that an oracle finds: recall of all relations.

Definitions are functions, classes, types and constants at the top of plain modules, in random order. The oracle is
jedi, an extra, for Python, or with `--typescript` the language service of TypeScript for that and JavaScript. It reads
every file with the name, so names in many files are left out.
"""

import argparse
import os
import random
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.answering.usage_answer import UsageQuery, usages_of
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from gitmem.named_tuple import NamedTuple
from gitmem.search.path_roles import path_role
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.definition_calls import AskedCall
from tests.bench.definition_oracles import ask_typescript
from tests.bench.figures import Figure
from tests.bench.processes import run
from tests.bench.subjects import add_subject_options, git, iter_subjects, work_folder

LEAST_RECALL: Final = 0.95
RELATIONS: Final = ("definitions", "callers", "mentions", "importers", "subclasses", "implementers")
_MAX_FILES: Final = 25
_MAX_LINE: Final = 300
_SHORTEST: Final = 4
_LIMIT: Final = 900

Lines = set[tuple[str, int]]
"""Paths with numbers."""


class _Language(NamedTuple):
    """Files of a language, and the start of a line that defines the name in one of its groups."""

    files: tuple[str, ...]
    definition: re.Pattern[str]


_PYTHON: Final = _Language(("*.py",), re.compile(r"(?:def|class) (\w+)|(\w+)(?::[^=]*)? = "))
_ECMA: Final = _Language(
    ("*.ts", "*.tsx", "*.js", "*.jsx", "*.mjs"),
    re.compile(
        r"(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?"
        r"(?:function\*?|class|interface|type|enum|const|let|var) (\w+)"
    ),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, the oracle and the size of the sample."""
    add_subject_options(parser, 500)
    parser.add_argument("--names", type=int, default=60, help="definitions of each repository")
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
            for name, expected in _expected(subject.path, options):
                missed = expected - _lines_of(searcher, name) if expected else expected
                total, found = total + len(expected), found + len(expected) - len(missed)
                for path, line in sorted(missed) if options.misses else ():
                    print(f"{path}:{line}: named in {name.path}:{name.line}")
            recall = found / total if total else None
            figures.append(Figure(subject.name, "lines that refer to definitions", total))
            figures.append(Figure(subject.name, "recall of references", recall, at_least=LEAST_RECALL))
    return figures


def _lines_of(searcher: Searcher, name: AskedCall) -> Lines:
    query = UsageQuery(f"{name.path}:{name.line}", RELATIONS, limit=_LIMIT)
    with open_reader(searcher.tree.location, bulk=False, files=searcher.files) as reader:
        try:
            answer = usages_of(searcher, query, reader)
        except UsageError:  # no definition there
            return set()
    return {(place.path, place.line) for related in answer.relations for place in related.places}


def _expected(root: Path, options: argparse.Namespace) -> Iterator[tuple[AskedCall, Lines]]:
    """Yield definitions in random order, each with the lines that refer to it, as the oracle knows them."""
    language = _PYTHON if options.typescript is None else _ECMA
    files = {path for path in git(root, "ls-files", "-z", "--", *language.files).split("\0") if path}
    plain = [path for path in sorted(files) if not path_role(path)]
    names = [name for path in plain for name in _definitions(root, path, language.definition)]
    random.Random(7).shuffle(names)
    rare = (asked for asked, name in names if len(_files_with(root, name, language)) <= _MAX_FILES)
    sample = list(islice(rare, options.names))
    answers: Iterable[Lines | None] = _ask_jedi(root, sample)
    if options.typescript is not None:
        answers = ask_typescript(root, sample, options, "references")
    for asked, lines in zip(sample, answers, strict=True):
        yield asked, {(path, line) for path, line in lines or () if path in files} - {(asked.path, asked.line)}


def _ask_jedi(root: Path, names: Sequence[AskedCall]) -> Iterator[Lines]:
    import jedi  # an extra

    project = jedi.Project(str(root))
    for name in names:
        try:
            script = jedi.Script(path=str(root / name.path), project=project)
            found = script.get_references(name.line, name.column, scope="project")
        except Exception:  # jedi fails on some code; it is no oracle there
            found = []
        inside = [each for each in found if each.module_path and Path(each.module_path).is_relative_to(root)]
        yield {
            (Path(each.module_path).relative_to(root).as_posix(), each.line)
            for each in inside
            if not each.is_definition()
        }


def _definitions(root: Path, path: str, definition: re.Pattern[str]) -> Iterator[tuple[AskedCall, str]]:
    """Yield the places of the names that a file defines at its top, with these names."""
    if not (root / path).is_file():
        return
    for number, line in enumerate((root / path).read_text("utf-8", "replace").split("\n"), 1):
        match = definition.match(line) if len(line) <= _MAX_LINE else None
        group = match.lastindex if match else None
        if match and group and len(match[group]) >= _SHORTEST and not match[group].startswith("__"):
            yield AskedCall(path, number, match.start(group)), match[group]


def _files_with(root: Path, name: str, language: _Language) -> list[str]:
    return git(root, "grep", "-lw", "-e", name, "--", *language.files).splitlines()
