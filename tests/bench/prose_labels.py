"""How the questions of the prose benchmark were chosen: headings of documentation pages that ask something.

usage: python -m tests.bench.prose_labels --repositories DIR PROJECT ...

DIR holds a clone `OWNER+NAME/repo` of each project `OWNER/NAME`. Writes `prose.json` beside this module: of each
project the commit, the half it is in, and of each question the page and the heading. No sentence of a page is kept. The
hash of a name decides what is chosen and which half a project is in, so nobody does.
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

from gitmem.search.query_parser import STOP_WORDS
from tests.bench.headings import Section, find_sections
from tests.bench.pages import LEAST_WORDS, list_pages, read_pages, words

LABELS: Final = Path(__file__).with_name("prose.json")
HALVES: Final = ("development", "held-out")
QUESTIONS: Final = 14
"""Of one project, headings that are questions; tasks fill up to MOST."""

MOST: Final = 20
LEAST: Final = 8
"""Minimum number of queries of a project."""

_ASKS: Final = re.compile(r"(?:how|what|why|when|where|which|who|can|does|do|is|are|should|will|could)\b", re.I)
_DOES: Final = re.compile(r"[A-Z][a-z]{2,}ing\b")
_PLAIN: Final = re.compile(r"[ -z~]{10,120}")


@dataclass(frozen=True, slots=True)
class Label:
    """A heading that asks, on the page whose text below it answers; `category` is question or task."""

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
        labels = choose(read_pages(folder, commit, list_pages(folder, commit)))
        print(f"{name}: {len(labels)}", file=sys.stderr)
        if len(labels) >= LEAST:
            half = HALVES[len(chosen) % len(HALVES)]
            questions = [asdict(label) for label in labels]
            chosen.append({"repository": name, "commit": commit, "half": half, "questions": questions})
    LABELS.write_text(json.dumps(chosen, indent=1) + "\n", encoding="utf-8")
    return 0


def find_clone(folder: Path, name: str) -> Path:
    """Return the path of a project's clone."""
    return folder / name.replace("/", "+") / "repo"


def choose(pages: Mapping[str, str]) -> list[Label]:
    """Return the queries of a project in the order of their pages."""
    labels = [Label(path, section.title, kind) for path, text in pages.items() for section, kind in _asking(path, text)]
    times = Counter(tuple(words(label.heading)) for label in labels)
    once = sorted(
        (one for one in labels if times[tuple(words(one.heading))] == 1), key=lambda one: _digest(one.heading)
    )
    questions = [label for label in once if label.category == "question"][:QUESTIONS]
    tasks = [label for label in once if label.category == "task"][: MOST - len(questions)]
    return sorted(questions + tasks, key=lambda label: (label.path, label.heading))


def _asking(path: str, text: str) -> Iterator[tuple[Section, str]]:
    lines = text.split("\n")
    for section in find_sections(lines, path):
        informative = [word for word in words(section.title) if word not in STOP_WORDS]
        if len(section.title.split()) < 4 or len(informative) < 2 or not _PLAIN.fullmatch(section.title):
            continue
        if _count(lines[section.body : section.end]) < LEAST_WORDS:
            continue
        if section.title.endswith("?") or _ASKS.match(section.title):
            yield section, "question"
        elif _DOES.match(section.title):
            yield section, "task"


def _count(lines: Sequence[str]) -> int:
    return sum(len(line.split()) for line in lines)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


if __name__ == "__main__":
    sys.exit(main())
