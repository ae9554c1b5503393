"""What counts when candidates are ordered, and what a question costs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gitmem.search.engine import rank_candidates, retrieve
from gitmem.search.fuse import FusionWeights
from gitmem.search.query_parser import parse_query
from gitmem.search.scope import Filters, Scope
from gitmem.store.view_file import find_view
from gitmem.workspace import open_snapshot, require_index
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, InlinePool, index, python_file, workspace_of
from tests.search.trials import made_trial


def fused(question: str, words: list[float]) -> list[float]:
    """The fused scores of candidates with falling cosines, relative to the best."""
    retrieved = made_trial([0.9, 0.5, 0.1], words, 0).retrieved._replace(query=parse_query(question))
    told = rank_candidates(retrieved, limit=3, weights=FusionWeights(1.0, 1.0)).features["fused"]
    return [round(float(value - told.max()), 3) for value in told]


def test_the_meaning_of_a_symbol_counts_only_where_its_name_is_not_found() -> None:
    alike = fused("RotateKeys", [1.0, 1.0, 0.0])
    assert alike[0] == alike[1] > alike[2]
    falling = fused("RotateKeys", [0.0, 0.0, 0.0])
    assert falling[0] > falling[1] > falling[2]


@pytest.mark.parametrize("question", ["keys", "how are keys rotated", "where is RotateKeys"])
def test_the_meaning_of_words_counts_beside_them(question: str) -> None:
    falling = fused(question, [1.0, 1.0, 0.0])
    assert falling[0] > falling[1] > falling[2]


def test_what_words_alone_find_is_embedded_nowhere(tmp_path: Path, fake_model: type[InlinePool]) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({f"src/cookies{n}.py": python_file("sign_cookie", f"load_{n}") for n in range(3)})
    index(repo)
    workspace = workspace_of(repo)
    manifest = require_index(workspace)
    view = find_view(workspace.paths.view(manifest.views[-1]))
    assert view is not None
    scope = Scope(open_snapshot(workspace, manifest), view, Filters())
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
