"""Documentation pages of a repository at a commit, and recognition of lines that repeat a heading."""

import hashlib
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.bench.page_headings import ENDINGS
from tests.bench.subjects import SubjectError

MAX_PAGES: Final = 100
"""Maximum number of pages of one project: those with answers, and others in the order of the hash of their path."""

MIN_WORDS: Final = 40

_LEFT_OUT: Final = re.compile(
    r"(?:^|/)(?:\.\w+|tests?|testdata|fixtures|node_modules|vendor|third_party|blog|_posts|i18n|changelogs?|releases?"
    r"|(?!en/)[a-z]{2}(?:-[a-z]{2})?)/|change|licen[cs]e|release|news|history|upgrad|whatsnew|template",
    re.IGNORECASE,
)
"""Translations, release notes, and pages of other projects."""

_LINK: Final = re.compile(r"(?<=\])\([^)]*\)|(?<=\])\[[^\]]*\]")
_WORD: Final = re.compile(r"\w+")


def list_pages(repository: Path, commit: str) -> list[str]:
    """Return the paths of a commit that are English documentation, judged by the path."""
    names = _git(repository, "ls-tree", "-r", "-z", "--name-only", commit).decode("utf-8", "replace").split("\0")
    return sorted(name for name in names if name.endswith(ENDINGS) and not _LEFT_OUT.search(name))


def read_pages(repository: Path, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """Return the pages of a commit by path, except those that are not UTF-8 or almost empty."""
    names = "".join(f"{commit}:{path}\n" for path in paths).encode()
    answer = _git(repository, "cat-file", "--batch", stdin=names)
    pages, at = {}, 0
    for path in paths:
        head, at = answer.index(b"\n", at), answer.index(b"\n", at) + 1
        size = int(answer[:head].rsplit(b" ", 1)[1])
        data, at = answer[at : at + size], at + size + 1
        text = _decode(data)
        if len(text.split()) >= MIN_WORDS:
            pages[path] = text
    return pages


def choose_pages(paths: Iterable[str], answering: Iterable[str]) -> list[str]:
    """Return the pages with answers and others up to the limit, in path order."""
    chosen = set(answering)
    others = sorted(set(paths) - chosen, key=lambda path: hashlib.sha256(path.encode()).digest())
    return sorted(chosen.union(others[: max(0, MAX_PAGES - len(chosen))]))


def words(text: str) -> list[str]:
    """Return the words of a line in lower case, without markup and link targets."""
    return _WORD.findall(_LINK.sub("", text).lower().replace("_", " "))


def repeats_heading(line: Sequence[str], titles: Mapping[str, Sequence[Sequence[str]]]) -> bool:
    """Return whether the words of a line are a heading with little else, as in a table of contents.

    `titles` are the words of headings by their first word.
    """
    for first in set(line):
        for title in titles.get(first, ()):
            rest = len(line) - len(title)
            if 0 <= rest <= 3 + len(title) and f" {' '.join(title)} " in f" {' '.join(line)} ":
                return rest <= 3 or rest == len(title)
    return False


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\0", "")
    except UnicodeDecodeError:
        return ""


def _git(repository: Path, *args: str, stdin: bytes = b"") -> bytes:
    process = subprocess.run(["git", "-C", str(repository), *args], input=stdin, capture_output=True)
    if process.returncode:
        raise SubjectError(f"{repository}: git {args[0]}: {process.stderr.decode(errors='replace').strip()[-300:]}")
    return process.stdout
