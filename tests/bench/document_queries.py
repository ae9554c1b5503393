"""Choose the queries about documents: headings of documentation pages that are questions or tasks.

usage: python -m tests.bench.document_queries --repositories DIR PROJECT ...

DIR holds a clone `OWNER+NAME/repo` of each project `OWNER/NAME`. Writes `document_queries.json` beside this module: the
commit and the half of each project, and the page and the heading of each query. It contains no text of a page. Hashes
of names decide which headings are chosen and which half a project is in, so the choice is reproducible and unbiased.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gitmem.search.stop_words import STOP_WORDS
from tests.bench.documentation_pages import MIN_WORDS, list_pages, read_pages, words
from tests.bench.page_headings import Section, find_sections

LABELS: Final = Path(__file__).with_name("document_queries.json")
HALVES: Final = ("development", "held-out")
MAX_QUESTIONS: Final = 14
"""Maximum number of headings of one project that are questions. Tasks follow, up to MAX_QUERIES."""

MAX_QUERIES: Final = 20
MIN_QUERIES: Final = 8
"""Minimum number of queries of a project."""

_QUESTION: Final = re.compile(r"(?:how|what|why|when|where|which|who|can|does|do|is|are|should|will|could)\b", re.I)
_TASK: Final = re.compile(r"[A-Z][a-z]{2,}ing\b")
_PLAIN_TEXT: Final = re.compile(r"[ -z~]{10,120}")


@dataclass(frozen=True, slots=True)
class LabelledHeading:
    """Heading used as a query; the section below it is the answer. `category` is `question` or `task`."""

    path: str
    heading: str
    category: str


def main(args: list[str] | None = None) -> int:
    """Choose the queries of all projects and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True, metavar="DIR")
    parser.add_argument("projects", nargs="+", metavar="PROJECT")
    options = parser.parse_args(args)
    chosen: list[dict[str, Any]] = []
    for name in sorted(options.projects, key=_digest):
        folder = find_clone(options.repositories, name)
        commit = subprocess.check_output(["git", "-C", folder, "rev-parse", "HEAD"], text=True).strip()
        labels = choose_headings(read_pages(folder, commit, list_pages(folder, commit)))
        print(f"{name}: {len(labels)}", file=sys.stderr)
        if len(labels) >= MIN_QUERIES:
            half = HALVES[len(chosen) % len(HALVES)]
            queries = [asdict(label) for label in labels]
            chosen.append({"repository": name, "commit": commit, "half": half, "queries": queries})
    LABELS.write_text(json.dumps(chosen, indent=1) + "\n", encoding="utf-8")
    return 0


def find_clone(folder: Path, name: str) -> Path:
    """Return the path of a project's clone."""
    return folder / name.replace("/", "+") / "repo"


def choose_headings(pages: Mapping[str, str]) -> list[LabelledHeading]:
    """Return the queries of a project in the order of their pages."""
    labels = [
        LabelledHeading(path, section.title, kind)
        for path, text in pages.items()
        for section, kind in _candidate_headings(path, text)
    ]
    times = Counter(tuple(words(label.heading)) for label in labels)
    once = sorted(
        (one for one in labels if times[tuple(words(one.heading))] == 1), key=lambda one: _digest(one.heading)
    )
    questions = [label for label in once if label.category == "question"][:MAX_QUESTIONS]
    tasks = [label for label in once if label.category == "task"][: MAX_QUERIES - len(questions)]
    return sorted(questions + tasks, key=lambda label: (label.path, label.heading))


def _candidate_headings(path: str, text: str) -> Iterator[tuple[Section, str]]:
    lines = text.split("\n")
    for section in find_sections(lines, path):
        informative = [word for word in words(section.title) if word not in STOP_WORDS]
        if len(section.title.split()) < 4 or len(informative) < 2 or not _PLAIN_TEXT.fullmatch(section.title):
            continue
        if _count(lines[section.body : section.end]) < MIN_WORDS:
            continue
        if section.title.endswith("?") or _QUESTION.match(section.title):
            yield section, "question"
        elif _TASK.match(section.title):
            yield section, "task"


def _count(lines: Sequence[str]) -> int:
    return sum(len(line.split()) for line in lines)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


if __name__ == "__main__":
    sys.exit(main())
