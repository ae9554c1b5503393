"""Any git commands in any order: after each of them the index tells what the tree is, as one made from scratch does.

The short form is a few runs of some ten steps; `-m long` runs two thousand steps more.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.embedding.encoder import Embeddings
from gitmem.git.status import Status, parse_status
from gitmem.words import Text
from tests.indexes import HashEncoder, InlinePool
from tests.machine.commands import COMMANDS, World
from tests.machine.follow import Follower

steps = st.lists(st.tuples(st.sampled_from(sorted(COMMANDS)), st.integers(0, 10_000)), min_size=8, max_size=12)


def follow(sequence: Sequence[tuple[str, int]], folder: Path, encoder: type[HashEncoder] = HashEncoder) -> None:
    """Play one sequence in a world of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.indexing.run.Pool", InlinePool)
        patch.setattr("gitmem.embedding.bundled.BundledEncoder", encoder)
        patch.setattr(InlinePool, "encoder", encoder())
        follower = Follower(folder)
        for command, number in sequence:
            follower.step(command, number)


@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps)
def test_after_any_commands_the_index_tells_what_is_there(sequence: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        follow(sequence, Path(folder))


@pytest.mark.long
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps)
def test_after_two_thousand_commands_too(sequence: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        follow(sequence, Path(folder))


def test_an_index_that_overlooks_uncommitted_work_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.git.status.parse_status", lambda output: Status(parse_status(output).commit, []))
    with pytest.raises(AssertionError, match=r"another blob|not in the view"):
        follow([("append", 3), ("write", 1), ("append", 5)], tmp_path)


def test_an_index_whose_rows_depend_on_what_came_before_is_caught(tmp_path: Path) -> None:
    class Drifting(HashEncoder):
        def encode(self, texts: Sequence[Text]) -> Embeddings:
            made = super().encode(texts)
            return made._replace(vectors=np.roll(made.vectors, type(self).encoded, axis=1))

    with pytest.raises(AssertionError, match="the rows differ"):
        follow([("write", 1), ("commit -a", 1)], tmp_path, Drifting)


def test_git_does_most_of_what_it_is_told(tmp_path: Path) -> None:
    """Commands that git always refuses would prove nothing."""
    done: set[str] = set()
    current = "the first commit"

    class Noting(World):
        def git(self, *args: str, at: Path | None = None) -> bool:
            worked = super().git(*args, at=at)
            if worked:
                done.add(current)
            return worked

    for attempt in range(3):
        world = Noting(tmp_path / str(attempt))
        world.dice.seed(attempt)
        for current in [*sorted(COMMANDS, key=lambda _: world.dice.random())] * 2:
            COMMANDS[current](world)
    assert len(done) >= 40, sorted(done)
