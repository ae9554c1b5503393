"""The results of any query: their order, their content, their number, and the filters."""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.answering.answer import Answer, answer_open
from gitmem.answering.answer_json import hit_json
from gitmem.answering.search_query import MODES, Query, SearchFilters, check_query
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.search.hits import LIFT, Hit
from gitmem.settings import Settings
from gitmem.types import CHUNK_TYPES
from tests.gitrepo import ISOLATION, Repo
from tests.indexes import index, python_file, workspace_of

SUBJECTS = ("cookie", "route", "table", "backup", "signature")
VERBS = ("sign", "load", "match", "rotate", "copy")
FOLDERS = ("lib/", "web/", "docs/", "tests/")

many_examples = settings(max_examples=100, deadline=None)
texts = st.one_of(
    st.lists(st.sampled_from([*SUBJECTS, *VERBS, "sign_cookie", "Router", "the", "value"]), min_size=1, max_size=5).map(
        " ".join
    ),
    st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and "\0" not in text),
)
modes = st.sampled_from(MODES)
limits = st.integers(1, Settings().search_max_limit)


class OpenTree:
    """Tree held open, so that an example starts no process."""

    def __init__(self, repo: Repo, searcher: Searcher, reader: ObjectReader) -> None:
        self.repo = repo
        self._searcher = searcher
        self._reader = reader

    def search(self, query: Query) -> Answer:
        """Answer a query."""
        return answer_open(self._searcher, query, check_query(query, WORKING_TREE, Settings()), self._reader)

    @cached_property
    def chunks(self) -> list[Hit]:
        """Return all chunks, as far as filters see them."""
        return self.hits(Query("value", 50, "semantic", min_score=0))

    def hits(self, query: Query) -> list[Hit]:
        """Return the hits of a query."""
        return [hit for hit, _ in self.search(query).hits]


@pytest.fixture(scope="module")
def open_tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenTree]:
    """Index 50 files of three languages and two folders with the real model."""
    repo = Repo.init(tmp_path_factory.mktemp("results") / "repo")
    files: dict[str, str | bytes] = {}
    for subject in SUBJECTS:
        for verb in VERBS:
            name = f"{verb}_{subject}"
            files[f"lib/{name}.py"] = python_file(name, f"try_{name}")
            files[f"web/{name}.go"] = f"package web\n\nfunc {name}(value string) string {{\n\treturn value\n}}\n"
        files[f"docs/{subject}.md"] = f"# {subject}\n\nHow to sign, load and rotate a {subject}.\n"
        files[f"tests/test_{subject}.py"] = python_file(f"test_sign_{subject}")
    files["lib/copy of sign_cookie.py"] = files["lib/sign_cookie.py"]
    repo.commit(files)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ISOLATION.items():
            patch.setenv(name, value)
        index(repo)
        workspace = workspace_of(repo)
        searcher = open_searcher(workspace, WORKING_TREE)
        with open_reader(workspace.location, bulk=False) as reader:
            yield OpenTree(repo, searcher, reader)


@many_examples
@given(text=texts, mode=modes, limit=limits)
def test_hits_are_sorted_by_score_then_location(open_tree: OpenTree, text: str, mode: str, limit: int) -> None:
    """Property 2: Relevance and ranking."""
    for before, after in pairwise(open_tree.hits(Query(text, limit, mode))):
        assert before.score >= after.score
        if before.score == after.score:
            assert (before.path, before.start_line) < (after.path, after.start_line)


@many_examples
@given(text=texts, mode=modes, limit=limits)
def test_every_result_has_its_location_and_the_lines_of_its_blob(
    open_tree: OpenTree, text: str, mode: str, limit: int
) -> None:
    """Property 3: Result completeness."""
    answer = open_tree.search(Query(text, limit, mode))
    for number in range(len(answer.hits)):
        result = hit_json(answer, number)
        assert 0 <= result["score"] <= 1
        assert 1 <= result["start_line"] <= result["end_line"]
        assert result["chunk_type"] in CHUNK_TYPES
        assert result["language"] == {"py": "python", "go": "go", "md": "markdown"}[result["path"].rpartition(".")[2]]
        lines = (open_tree.repo.path / result["path"]).read_text().splitlines()
        assert result["content"].splitlines() == lines[result["start_line"] - 1 : result["end_line"]]


@many_examples
@given(
    text=texts,
    mode=modes,
    include=st.sets(st.sampled_from([*FOLDERS, "*.py", "*_cookie.*", "none/"]), max_size=2),
    exclude=st.sets(st.sampled_from([*FOLDERS, "*.md"]), max_size=2),
    languages=st.sets(st.sampled_from(["python", "go", "markdown", "unknown"]), max_size=2),
    chunk_types=st.sets(st.sampled_from(["function", "section", "class", "text"]), max_size=2),
)
def test_filters_keep_exactly_the_matching_chunks(
    open_tree: OpenTree,
    text: str,
    mode: str,
    include: set[str],
    exclude: set[str],
    languages: set[str],
    chunk_types: set[str],
) -> None:
    """Property 16: Filters."""
    filters = SearchFilters(tuple(include), tuple(exclude), tuple(languages), tuple(chunk_types))

    def passes(hit: Hit) -> bool:
        return (
            (not include or any(matches(hit.path, glob) for glob in include))
            and not any(matches(hit.path, glob) for glob in exclude)
            and (not languages or hit.language in languages)
            and (not chunk_types or hit.chunk_type in chunk_types)
        )

    filtered = open_tree.hits(Query(text, 50, mode, filters, min_score=0))
    assert all(map(passes, filtered))
    everything = [hit for hit in open_tree.hits(Query(text, 50, mode, min_score=0)) if passes(hit)]
    if everything or (mode == "hybrid" and any(map(passes, open_tree.chunks))):
        assert filtered
    # The first result of a file has the same score with and without filters.
    scores = best_scores(everything)
    found = best_scores(filtered)
    assert {path: found[path] for path in scores.keys() & found.keys()} == {
        path: scores[path] for path in scores.keys() & found.keys()
    }


def best_scores(hits: list[Hit]) -> dict[tuple[str, int], float]:
    """Return the scores of the first results of their files, except those that have the score of another row."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.path, hit)
    return {(hit.path, hit.start): hit.score for hit in first.values() if LIFT not in hit.scores}


def matches(path: str, glob: str) -> bool:
    """Return whether a path is below a folder, or its name has the suffix of a pattern."""
    if glob.endswith("/"):
        return path.startswith(glob)
    name = path.rpartition("/")[2]
    return "_cookie." in name if glob == "*_cookie.*" else name.endswith(glob[1:])


@many_examples
@given(text=texts, mode=modes, limit=st.integers(-3, 60))
def test_the_limit_is_reached_if_enough_results_match(open_tree: OpenTree, text: str, mode: str, limit: int) -> None:
    """Property 30: Limit."""
    if not 0 <= limit <= 50:
        with pytest.raises(UsageError, match="between 1 and 50"):
            open_tree.search(Query(text, limit, mode))
        return
    results = open_tree.hits(Query(text, limit, mode))
    assert len(results) == min(limit or Settings().search_default_limit, len(open_tree.hits(Query(text, 50, mode))))
