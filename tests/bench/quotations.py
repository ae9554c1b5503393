"""Whether pasted code or a message finds its place: the mean reciprocal rank of the result that has it.

The lines are those of plain code that occur once in the files of a repository, without comments and imports. Their
words occur elsewhere: in the functions that they call, for example. Snippets are such lines with the two after each.
The messages are strings that code raises or logs,
with values in place of their place-holders, and mostly behind the name of an exception, as a program prints them.
"""

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.answering.searched_trees import path_weight
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.inprocess import open_answers
from tests.bench.name_quality import reciprocal_rank, summarise
from tests.bench.processes import run
from tests.bench.scoring import mean
from tests.bench.subjects import Subject, add_subject_options, git, iter_subjects, work_folder

LEAST: Final = 0.9
"""Least mean reciprocal rank."""

_ENDINGS: Final = tuple(
    ".c .cc .cpp .cs .ex .go .h .hs .java .js .kt .lua .php .py .rb .rs .scala .swift .ts .zig".split()
)
_SKIPPED: Final = ("//", "#", "*", "/*", "--", "import", "from", "use ", "using")
_SHORTEST, _LONGEST = 25, 120
_SEED: Final = 3

_MESSAGE: Final = re.compile(
    r"(?:raise|throw|panic!?|bail!|errors\.New|fmt\.Errorf|Error|Exception|error|fatal|warn\w*|log\.\w+|die)\b"
    r"[\w.:]*!?\(\s*(?:[A-Z]\w+\()?[fbru$@]*([\"'`])((?:(?!\1)[^\\\n]){20,140})\1"
)
_PLACE_HOLDER: Final = re.compile(
    r"%[-\d.]*[sdiurfxvqp]|%\(\w+\)\w|\{[^{}]*\}|\$\{[^}]*\}|#\{[^}]*\}|\\\([^)]*\)|\$\w+"
)
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_FEWEST_WORDS: Final = 4
_VALUES: Final = ("'orders_7'", "42", '"tmp"', "/var/tmp/a.txt", "2021-03")
_KINDS: Final = ("ValueError: ", "Error: ", "error: ", "java.lang.IllegalStateException: ", "")


class Quoted(NamedTuple):
    """Query and the place where the code has it."""

    query: str
    path: str
    line: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of lines."""
    add_subject_options(parser, 1)
    parser.add_argument("--lines", type=int, default=15, help="most lines, snippets and messages of a repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Search each repository for some of its lines and messages."""
    lines: dict[str, list[float]] = {}
    snippets: dict[str, list[float]] = {}
    messages: dict[str, list[float]] = {}
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            run(load_gitmem(options).index(subject.path))
            lines[subject.name] = measure_ranks(subject, choose_lines(subject.path, options.lines))
            snippets[subject.name] = measure_ranks(subject, choose_snippets(subject.path, options.lines))
            messages[subject.name] = measure_ranks(subject, choose_messages(subject.path, options.lines))
    return [
        *(Figure(name, "reciprocal rank of lines", mean(own)) for name, own in lines.items() if own),
        *(Figure(name, "reciprocal rank of messages", mean(own)) for name, own in messages.items() if own),
        *summarise("lines", [rank for own in lines.values() for rank in own], LEAST),
        *summarise("snippets", [rank for own in snippets.values() for rank in own], LEAST),
        *summarise("messages", [rank for own in messages.values() for rank in own], LEAST),
    ]


def measure_ranks(subject: Subject, quoted: list[Quoted]) -> list[float]:
    """Return the reciprocal rank of the place of each quotation."""
    search = open_answers(subject.path)
    return [reciprocal_rank(search(one.query), one.path, one.line) for one in quoted]


def choose_lines(folder: Path, count: int) -> list[Quoted]:
    """Return lines of plain code that occur once in the files of a repository."""
    places: dict[str, list[Quoted]] = {}
    for path, text in _read_code(folder):
        for number, line in enumerate(text.split("\n"), 1):
            if _SHORTEST <= len(line.strip()) <= _LONGEST:
                places.setdefault(line.strip(), []).append(Quoted(line.strip(), path, number))
    single = [own[0] for own in places.values() if len(own) == 1]
    return _choose([one for one in single if not one.query.startswith(_SKIPPED)], count)


def choose_snippets(folder: Path, count: int) -> list[Quoted]:
    """Return lines of plain code that occur once, with the next two lines."""
    snippets = []
    for one in choose_lines(folder, count):
        lines = (folder / one.path).read_text(encoding="utf-8", errors="replace").split("\n")
        snippets.append(one._replace(query="\n".join(lines[one.line - 1 : one.line + 2])))
    return snippets


def choose_messages(folder: Path, count: int) -> list[Quoted]:
    """Return messages that plain code has once, as a program would print them."""
    places: dict[str, list[Quoted]] = {}
    for path, text in _read_code(folder):
        for found in _MESSAGE.finditer(text):
            if len(_WORD.findall(_PLACE_HOLDER.sub(" ", found[2]))) >= _FEWEST_WORDS:
                line = text.count("\n", 0, found.start(2)) + 1
                places.setdefault(found[2], []).append(Quoted(found[2], path, line))
    choice = random.Random(_SEED)
    return [
        one._replace(
            query=choice.choice(_KINDS) + _PLACE_HOLDER.sub(lambda _: choice.choice(_VALUES), one.query)
        )
        for one in _choose([own[0] for own in places.values() if len(own) == 1], count)
    ]  # fmt: skip


def _choose(quoted: list[Quoted], count: int) -> list[Quoted]:
    plain = sorted(one for one in quoted if path_weight(one.path) == 1)
    return random.Random(_SEED).sample(plain, min(count, len(plain)))


def _read_code(folder: Path) -> Iterator[tuple[str, str]]:
    for path in git(folder, "ls-files", "-z").split("\0"):
        if path.endswith(_ENDINGS) and (folder / path).is_file():
            yield path, (folder / path).read_text(encoding="utf-8", errors="replace")
