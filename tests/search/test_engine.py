"""Signals that count when candidates are ranked, and texts that a query embeds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.search.dense import exact_cosines
from gitmem.search.engine import SearchOptions, rank_candidates, search
from gitmem.search.fuse import FusionWeights
from gitmem.search.query_parser import parse_query
from gitmem.search.retrieval import retrieve
from gitmem.search.scope import Filters, Scope
from gitmem.store.stored_view import find_view
from gitmem.types import CHUNK_TYPES
from gitmem.workspace import open_snapshot, require_index
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, InlinePool, index, python_file, workspace_of
from tests.search.judged_queries import make_judged

SUBJECTS = ("cookie", "route", "table", "backup", "signature")


def fused(text: str, lexical: list[float]) -> list[float]:
    """Return the fused scores of candidates with fused_scores cosines, relative to the best."""
    retrieved = make_judged([0.9, 0.5, 0.1], lexical, 0).retrieved._replace(query=parse_query(text))
    scores = rank_candidates(retrieved, limit=3, weights=FusionWeights(1.0, 1.0)).features["fused"]
    return [round(float(value - scores.max()), 3) for value in scores]


def test_cosines_count_for_a_symbol_only_if_no_word_matches() -> None:
    fused_scores = fused("RotateKeys", [1.0, 1.0, 0.0])
    assert fused_scores[0] == fused_scores[1] > fused_scores[2]
    fused_scores = fused("RotateKeys", [0.0, 0.0, 0.0])
    assert fused_scores[0] > fused_scores[1] > fused_scores[2]


@pytest.mark.parametrize("text", ["keys", "how are keys rotated", "where is RotateKeys"])
def test_cosines_count_for_prose_even_if_words_match(text: str) -> None:
    fused_scores = fused(text, [1.0, 1.0, 0.0])
    assert fused_scores[0] > fused_scores[1] > fused_scores[2]


def test_lexical_mode_embeds_nothing(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({f"src/cookies{n}.py": python_file("sign_cookie", f"load_{n}") for n in range(3)})
    index(repo)
    scope = scope_of(repo)
    encoder: Any = None
    by_words = retrieve(scope, parse_query("sign cookie"), encoder, mode="lexical").candidates
    assert len(by_words.row)
    assert not by_words.dense.any()
    assert not by_words.path_cosine.any()
    both = retrieve(scope, parse_query("sign cookie"), HashEncoder()).candidates
    assert both.path_cosine.any()
    by_meaning = retrieve(scope, parse_query("sign cookie"), HashEncoder(), mode="semantic").candidates
    assert not by_meaning.lexical.any()
    assert not by_meaning.file_lexical.any()
    assert np.isin(by_words.row, both.row).all()


@pytest.mark.parametrize("name", ["Application", "Registry", "Settings"])  # the stems of the last two are others
def test_the_definition_of_a_name_is_a_candidate_however_often_others_repeat_it(
    tmp_path: Path, fake_model: type[InlinePool], name: str
) -> None:
    repo = Repo.init(tmp_path / "repo")
    own_name = name.lower()
    hooks = {f"hooks/h{n}.py": f"def {own_name}_hook_{n}({own_name}):\n    {own_name}()\n" for n in range(150)}
    body = "\n".join(f"    option_{number} = {number}" for number in range(100))
    repo.commit({**hooks, "core.py": f"class {name}:\n{body}\n"})
    index(repo)
    scope = scope_of(repo)
    candidates = retrieve(scope, parse_query(name), HashEncoder(), mode="lexical").candidates
    own = candidates.lexical[candidates.file == candidates.paths.index("core.py")]
    assert own.max() == candidates.lexical.min(), "no candidate by its score: 150 others have higher ones"


def test_names_with_one_stem_are_both_looked_up(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    hooks = {f"hooks/h{n}.py": f"def setting_hook_{n}(settings):\n    settings(setting)\n" for n in range(150)}
    body = "\n".join(f"    option_{number} = {number}" for number in range(100))
    repo.commit({**hooks, "one.py": f"class Setting:\n{body}\n", "all.py": f"class Settings:\n    x = 0\n{body}\n"})
    index(repo)
    query = parse_query("where is Setting a part of Settings")
    candidates = retrieve(scope_of(repo), query, HashEncoder(), mode="lexical").candidates
    assert {"one.py", "all.py"} <= set(candidates.paths)


@pytest.mark.parametrize("text", ["Chart", "chart"])
def test_a_class_is_a_candidate_however_many_variables_have_its_name(
    tmp_path: Path, fake_model: type[InlinePool], text: str
) -> None:
    repo = Repo.init(tmp_path / "repo")
    users = {f"users/u{n}.js": f"const chart = make({n});\nchart.draw(chart);\n" for n in range(150)}
    fields = "".join(f"  option{number} = {number};\n" for number in range(100))
    repo.commit({**users, "core.js": f"class Chart {{\n{fields}}}\n"})
    index(repo)
    candidates = retrieve(scope_of(repo), parse_query(text), HashEncoder(), mode="lexical").candidates
    assert "core.js" in candidates.paths


@pytest.mark.parametrize(
    ("text", "first", "lifted"),
    [
        ("Celery", "app/base.py", True),
        ("the Celery class", "app/base.py", True),
        ("celery", "bin/celery.py", False),
        ("start of Celery by a command", "bin/celery.py", False),
    ],
)
def test_a_name_finds_what_is_spelled_like_it(
    tmp_path: Path, fake_model: type[InlinePool], text: str, first: str, lifted: bool
) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {
            "bin/celery.py": "def celery():\n    start_celery_command()\n",
            "app/base.py": "class Celery:\n    tasks = []\n",
            "tests/test_base.py": "class Celery:\n    start = 1\n",
        }
    )
    index(repo)
    encoder: Any = None
    hits = search(
        [scope_of(repo)], parse_query(text), encoder, limit=3, options=SearchOptions(mode="lexical"), min_score=0
    ).hits
    assert hits[0].path == first
    assert ("spelling" in hits[0].scores) == lifted


@pytest.mark.parametrize(
    ("text", "first"),
    [("Param", "tree.go"), ("the Param class", "tree.go"), ("a Param", "param.go"), ("make_response", "app.py")],
)
def test_a_definition_comes_before_all_that_only_resembles_the_name_that_a_query_is(
    tmp_path: Path, fake_model: type[InlinePool], text: str, first: str
) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {
            "param.go": "package gin\n\nfunc AddParam(param string) {\n\tparam = AddParam(param)\n}\n",
            "tree.go": "package gin\n\ntype Param struct {\n\tKey string\n}\n",
            "make_response.py": "def make_response_now(make_response):\n    make_response(make_response)\n",
            "app.py": "def make_response(value):\n    return value\n",
        }
    )
    index(repo)
    scope, query = scope_of(repo), parse_query(text)
    hits = search([scope], query, HashEncoder(), limit=3, min_score=0).hits
    assert hits[0].path == first
    filtered = Scope(scope.snapshot, scope.view, Filters(include=(first,)), whole=scope)
    alone = search([filtered], query, HashEncoder(), limit=3, min_score=0).hits
    assert alone[0].score == hits[0].score


def _calls(tmp_path: Path) -> Scope:
    """Return the scope of a repository in which 150 other classes have a method `execute` and repeat the words."""
    repo = Repo.init(tmp_path / "repo")
    body = "\n".join(f"    call.execute(call_{number}, execute, call.timeout, call.retries)" for number in range(8))
    others = {
        f"calls/c{n}.py": f"class CallExecute{n}:\n  def execute(self, call):\n    # Call.execute\n{body}\n"
        for n in range(150)
    }
    fields = "\n".join(f"    option_{number} = {number}" for number in range(60))
    repo.commit(
        {
            **others,
            "net.py": f"class Call:\n    timeout = 3\n{fields}\n\n    def execute(self):\n        return start()\n",
            "task.py": "class Task:\n    def __init__(self):\n        call = Call.retries\n",
        }
    )
    index(repo)
    return scope_of(repo)


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("Call.execute", "Call.execute"),
        ("Call#execute", "Call.execute"),
        ("`Call.execute()`", "Call.execute"),
        ("execute method of Call", "Call.execute"),
        ("how does Call.execute work?", "Call.execute"),
        ("net.Call.execute", "Call.execute"),
        ("Call.timeout", "Call"),  # a field has no row of its own
        ("Call.retries", "Call"),
    ],
)
def test_the_name_of_a_member_finds_it_however_many_classes_have_one(
    tmp_path: Path, fake_model: type[InlinePool], text: str, symbol: str
) -> None:
    hits = search([_calls(tmp_path)], parse_query(text), HashEncoder(), limit=3, min_score=0).hits
    assert hits[0].path == "net.py"
    assert symbol in (hits[0].symbol, *(unit.symbol for unit in hits[0].units))


@pytest.mark.parametrize("text", ["json.loads", "Response.missing"])
def test_neither_a_function_nor_a_constructor_is_the_class_whose_member_is_missing(
    tmp_path: Path, fake_model: type[InlinePool], text: str
) -> None:
    repo = Repo.init(tmp_path / "repo")
    fields = "".join(f"    int option{number} = {number};\n" for number in range(200))
    calls = "".join(f"        missing(response, {number});\n" for number in range(60))
    repo.commit(
        {
            "a.py": "def json(value):\n    return value\n",
            "b.py": "def read(text):\n    missing = loads\n    return json.loads(json.loads(text))\n",
            "Response.java": f"class Response {{\n{fields}\n    Response() {{\n{calls}    }}\n}}\n",
        }
    )
    index(repo)
    hits = search([scope_of(repo)], parse_query(text), HashEncoder(), limit=3, min_score=0).hits
    lifted = [hit.symbol for hit in hits if "spelling" in hit.scores]
    assert "json" not in lifted
    assert "Response.Response" not in lifted
    assert text == "json.loads" or hits[0].symbol == "Response"


def test_a_test_is_not_lifted_for_its_spelling(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {"bin/celery.py": "def celery():\n    start()\n", "tests/test_base.py": "class Celery:\n    start = 1\n"}
    )
    index(repo)
    hits = search([scope_of(repo)], parse_query("Celery"), HashEncoder(), limit=3, min_score=0).hits
    assert hits[0].path == "bin/celery.py"


@pytest.mark.parametrize(("text", "first"), [("settle", True), ("settle the invoice in euros", False)])
def test_the_name_of_a_long_function_finds_its_first_piece(
    tmp_path: Path, fake_model: type[InlinePool], text: str, first: bool
) -> None:
    repo = Repo.init(tmp_path / "repo")
    start = [f"    first_{number} = total * {number}" for number in range(130)]
    end = [f"    settle.invoice_{number} = settle(euros)" for number in range(130)]
    repo.commit({"billing.py": "\n".join(["def settle(total):", *start, *end, ""])})
    index(repo)
    encoder: Any = None
    hits = search(
        [scope_of(repo)], parse_query(text), encoder, limit=3, options=SearchOptions(mode="lexical"), min_score=0
    ).hits
    assert (hits[0].start_line == 1) == first
    assert (hits[0].scores.get("first_piece", 0.0) > 0) == first
    assert len({hit.start for hit in hits}) == len(hits) > 1


def test_a_name_with_packages_finds_the_first_piece_of_its_class(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    start = [f"  int first{number} = {number};" for number in range(150)]
    end = [f"  // com.shop.Ring shop.Ring Ring {number}" for number in range(150)]
    users = {f"user{n}.java": f"import com.shop.Ring;\nclass User{n} {{ com.shop.Ring ring; }}\n" for n in range(130)}
    repo.commit({"src/com/shop/Ring.java": "\n".join(["class Ring {", *start, *end, "}", ""]), **users})
    index(repo)
    hits = search([scope_of(repo)], parse_query("com.shop.Ring"), HashEncoder(), limit=3, min_score=0).hits
    assert (hits[0].path, hits[0].start_line) == ("src/com/shop/Ring.java", 1)


@pytest.mark.parametrize("constructors", [1, 40])
def test_the_name_of_a_class_finds_the_class_before_its_constructors(
    tmp_path: Path, fake_model: type[InlinePool], constructors: int
) -> None:
    repo = Repo.init(tmp_path / "repo")
    bodies = [f"  Cookie(int a{n}) {{\n" + f"    sign(Cookie.a{n});\n" * 40 + "  }\n" for n in range(constructors)]
    fields = "".join(f"  int field{n} = {n};\n" for n in range(60))
    repo.commit({"Cookie.java": f"class Cookie {{\n{fields}{''.join(bodies)}}}\n"})
    index(repo)
    hits = search([scope_of(repo)], parse_query("Cookie"), HashEncoder(), limit=3).hits
    assert [(hit.chunk_type, hit.symbol) for hit in hits[:1]] == [("class", "Cookie")]


def test_a_class_is_a_candidate_though_its_constructor_is_one(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    hooks = {f"hooks/h{n}.py": f"def application_hook_{n}(application):\n    application()\n" for n in range(150)}
    fields = "".join(f"  int option{number} = {number};\n" for number in range(150))
    constructor = "  Application(Application other) {\n" + "    application(application);\n" * 40 + "  }\n"
    repo.commit({**hooks, "Core.java": f"class Application {{\n{fields}{constructor}}}\n"})
    index(repo)
    candidates = retrieve(scope_of(repo), parse_query("Application"), HashEncoder(), mode="lexical").candidates
    own = candidates.file == candidates.paths.index("Core.java")
    types = [CHUNK_TYPES[chunk_type] for chunk_type in candidates.chunk_type[own].tolist()]
    assert sorted(types) == ["class", "method"]


def test_a_type_is_a_candidate_however_many_extensions_it_has(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    files = {f"e{n}.swift": f"extension Application {{\n    func hook{n}() {{}}\n}}\n" for n in range(150)}
    fields = "".join(f"    var option{number} = {number}\n" for number in range(150))
    repo.commit({**files, "Core.swift": f"class Application {{\n{fields}}}\n"})
    index(repo)
    candidates = retrieve(scope_of(repo), parse_query("Application"), HashEncoder(), mode="lexical").candidates
    assert "Core.swift" in candidates.paths


@settings(max_examples=100, deadline=None)
@given(
    words=st.lists(st.sampled_from(SUBJECTS), min_size=1, max_size=3), limit=st.integers(1, 60), folder=st.booleans()
)
def test_semantic_mode_returns_the_nearest_chunks_exactly(
    subjects: Scope, words: list[str], limit: int, folder: bool
) -> None:
    """Property 2: Relevance and ranking."""
    query, encoder = parse_query(" ".join(words)), HashEncoder()
    scope = Scope(subjects.snapshot, subjects.view, Filters(include=("lib/",)), whole=subjects) if folder else subjects
    hits = search([scope], query, encoder, limit=limit, options=SearchOptions("semantic")).hits
    rows = np.flatnonzero(scope.mask)
    cosines = exact_cosines(scope.snapshot, encoder.encode_query(query.text), rows)
    paths = [scope.view.path(entry).decode() for entry in scope.entry_of[rows].tolist()]
    lines = scope.snapshot.gather(("line",), rows)["line"].tolist()
    nearest = sorted(zip((-cosines).tolist(), paths, lines, strict=True))[:limit]
    assert [(hit.path, hit.start_line) for hit in hits] == [(path, line) for _, path, line in nearest]
    assert [hit.scores["semantic"] for hit in hits] == [-cosine for cosine, _, _ in nearest]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Scope:
    """Index 40 files in two folders; no two chunks of a file overlap."""
    repo = Repo.init(tmp_path_factory.mktemp("subjects") / "repo")
    names = [f"{one}_{other}" for one in SUBJECTS for other in SUBJECTS if one != other]
    repo.commit({f"{'lib' if n % 2 else 'web'}/{name}.py": python_file(name) for n, name in enumerate(names)})
    index(repo)
    return scope_of(repo)


def scope_of(repo: Repo) -> Scope:
    """Return all rows of the last indexed tree."""
    workspace = workspace_of(repo)
    manifest = require_index(workspace)
    view = find_view(workspace.paths.view(manifest.views[-1]))
    assert view is not None
    return Scope(open_snapshot(workspace, manifest), view, Filters())
