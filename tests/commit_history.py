"""Repository whose commits are labelled queries: each commit changes the one function that its subject names."""

from pathlib import Path
from typing import Final

from tests.gitrepo import Repo

_THINGS: Final = "anchor basket cipher dragon engine falcon garden harbor island jungle kettle lantern".split()
_WORKS: Final = "rotates merges paints counts".split()

WORDS: Final = [(work, thing) for thing in _THINGS for work in _WORKS]
"""Verb and noun of each function: 48 functions, 4 in each file."""


def function(work: str, thing: str, step: int) -> str:
    """Return a function of four lines; its last line contains `step`."""
    head = f'def {work}_{thing}(value):\n    """The {work} of every {thing}."""\n'
    return f"{head}    held = value\n    return held + {step}\n"


def file_of(thing: str, steps: dict[tuple[str, str], int]) -> str:
    """Return the file with the 4 functions of a noun."""
    return "\n\n".join(function(work, thing, steps[work, thing]) for work in _WORKS)


def make_history(path: Path, commits: int = len(WORDS), *options: str) -> Repo:
    """Make a repository with a first commit and `commits` more, each of which changes one function.

    One `git fast-import` writes them all.
    """
    repo = Repo.init(path, *options)
    steps = dict.fromkeys(WORDS, 0)
    stream = [_commit(1, "Begin", {f"src/{thing}.py": file_of(thing, steps) for thing in _THINGS})]
    for number, (work, thing) in enumerate(WORDS[:commits], 2):
        steps[work, thing] = number
        subject = f"fix: {thing} which a late visitor {work} in hurry (#{number})"
        stream.append(_commit(number, subject, {f"src/{thing}.py": file_of(thing, steps)}))
    repo.git("fast-import", "--quiet", stdin="".join(stream).encode())
    if "--bare" not in options:
        repo.git("reset", "--quiet", "--hard")
    return repo


def _commit(number: int, subject: str, files: dict[str, str]) -> str:
    changes = "".join(f"M 644 inline {name}\ndata {len(text)}\n{text}\n" for name, text in files.items())
    return (
        f"commit refs/heads/main\ncommitter A Person <person@example.invalid> {1_700_000_000 + number} +0000\n"
        f"data {len(subject)}\n{subject}\n{changes}"
    )
