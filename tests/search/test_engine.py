"""Signals that count when candidates are ranked, and texts that a query embeds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gitmem.search.engine import rank_candidates, retrieve
from gitmem.search.fuse import FusionWeights
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Filters, Scope
from gitmem.store.stored_view import find_view
from gitmem.workspace import open_snapshot, require_index
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, InlinePool, index, python_file, workspace_of
from tests.search.judged_queries import make_judged


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


def test_the_definition_of_a_name_is_a_candidate_however_often_others_repeat_it(
    tmp_path: Path, fake_model: type[InlinePool]
) -> None:
    repo = Repo.init(tmp_path / "repo")
    hooks = {f"hooks/h{n}.py": f"def application_hook_{n}(application):\n    application()\n" for n in range(150)}
    body = "\n".join(f"    option_{number} = {number}" for number in range(100))
    repo.commit({**hooks, "core.py": f"class Application:\n{body}\n"})
    index(repo)
    scope = scope_of(repo)
    candidates = retrieve(scope, parse_query("Application"), HashEncoder(), mode="lexical").candidates
    own = candidates.lexical[candidates.file == candidates.paths.index("core.py")]
    assert own.max() == candidates.lexical.min(), "no candidate by its score: 150 others have higher ones"


def scope_of(repo: Repo) -> Scope:
    """Return all rows of the last indexed tree."""
    workspace = workspace_of(repo)
    manifest = require_index(workspace)
    view = find_view(workspace.paths.view(manifest.views[-1]))
    assert view is not None
    return Scope(open_snapshot(workspace, manifest), view, Filters())
