"""Repositories of documents for the document queries: a project's pages, without the headings that are queries."""

import hashlib
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.freshness.refresh import refresh
from gitmem.git.trees import empty_tree
from gitmem.records.transfer import import_records
from gitmem.workspace import Workspace, open_workspace
from tests.bench.document_queries import LABELS, LabelledHeading, find_clone
from tests.bench.documentation_pages import choose_pages, list_pages, read_pages, repeats_heading, words
from tests.bench.page_headings import find_sections
from tests.bench.quality import BenchQuery
from tests.bench.scoring import Target
from tests.gitrepo import Repo

SOURCE: Final = "documentation"


@dataclass(frozen=True, slots=True)
class Project:
    """Project of the query set."""

    name: str
    commit: str
    half: str
    labels: tuple[LabelledHeading, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Page as indexed, and the first and last line (from 1) of the section of each heading."""

    path: str
    text: str
    answers: Mapping[str, tuple[int, int]]


def read_projects(half: str) -> list[Project]:
    """Return the projects of one half of the set, or of both."""
    document = json.loads(LABELS.read_text(encoding="utf-8"))
    projects = [
        Project(
            one["repository"], one["commit"], one["half"], tuple(LabelledHeading(**label) for label in one["queries"])
        )
        for one in document
    ]
    return [project for project in projects if half in (project.half, "both")]


def open_project(project: Project, repositories: Path, cache: Path) -> tuple[Workspace, list[BenchQuery]]:
    """Return a repository with the project's pages as documents, and the queries about them.

    It is cached in the folder `cache` under a hash of the pages.
    """
    pages = list(iter_pages(project, find_clone(repositories, project.name)))
    folder = cache / f"{project.name.replace('/', '+')}-{_digest(pages)}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        make_documents(folder / "repo", pages)
        (folder / "complete").touch()
    return open_workspace(folder / "repo", os.environ), queries_of(project, pages)


def queries_of(project: Project, pages: Iterable[Page]) -> list[BenchQuery]:
    """Return the queries from the headings of a project, with the locations of their answers."""
    return [
        BenchQuery(project.name, label.heading, label.category, (Target(page.path, *page.answers[label.heading]),))
        for page in pages
        for label in project.labels
        if label.path == page.path
    ]


def make_documents(folder: Path, pages: Iterable[Page]) -> None:
    """Import pages as documents of a new repository, like `gitmem memory import`."""
    workspace = open_workspace(Repo.init(folder).path, os.environ)
    refresh(workspace, empty_tree(workspace.location))
    add_pages(workspace, pages)


def add_pages(workspace: Workspace, pages: Iterable[Page]) -> None:
    """Import pages as documents of an indexed repository."""
    lines = (
        json.dumps({"kind": "documents", "content": page.text, "source": SOURCE, "source_id": page.path})
        for page in pages
    )
    notices = import_records(workspace, lines, allow_secrets=True).notices
    assert not notices, notices


def iter_pages(project: Project, clone: Path) -> Iterator[Page]:
    """Yield the pages of a project without the headings that are queries and their entries in tables of contents."""
    answering = {label.path for label in project.labels}
    paths = choose_pages(list_pages(clone, project.commit), answering)
    titles = titles_by_word(label.heading for label in project.labels)
    for path, text in read_pages(clone, project.commit, paths).items():
        yield prepare(path, text, [label.heading for label in project.labels if label.path == path], titles)


def titles_by_word(headings: Iterable[str]) -> dict[str, list[list[str]]]:
    """Return the words of headings by their first word."""
    titles: dict[str, list[list[str]]] = defaultdict(list)
    for heading in headings:
        titles[words(heading)[0]].append(words(heading))
    return titles


def prepare(path: str, text: str, headings: Sequence[str], titles: Mapping[str, Sequence[Sequence[str]]]) -> Page:
    """Return a page without the headings that are queries and the lines that repeat them."""
    lines = text.split("\n")
    sections = {section.title: section for section in find_sections(lines, path)}
    removed = {place for heading in headings for place in range(sections[heading].start, sections[heading].body)}
    removed |= {place for place, line in enumerate(lines) if titles and repeats_heading(words(line), titles)}
    remaining = [place for place in range(len(lines)) if place not in removed]
    new_number = {place: number for number, place in enumerate(remaining, 1)}
    answers = {}
    for heading in headings:
        section = sections[heading]
        own = [new_number[place] for place in range(section.body, section.end) if place in new_number]
        answers[heading] = (own[0], own[-1])
    return Page(path, "\n".join(lines[place] for place in remaining), answers)


def _digest(pages: Iterable[Page]) -> str:
    """Return a hash of the pages."""
    digest = hashlib.sha256()
    for page in pages:
        digest.update(f"{page.path}\0{page.text}\0".encode())
    return digest.hexdigest()[:16]
