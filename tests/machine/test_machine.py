"""After any sequence of git commands the index matches the tree, and equals an index built from scratch.

By default a few runs of some ten steps are made; `-m long` adds two thousand steps.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.embedding.encoder import Embeddings
from gitmem.git.status import Status, parse_status
from gitmem.identifier_counts import Bags
from tests.indexes import HashEncoder, InlinePool
from tests.machine.commands import COMMANDS, World
from tests.machine.follow import Follower

steps = st.lists(st.tuples(st.sampled_from(sorted(COMMANDS)), st.integers(0, 10_000)), min_size=8, max_size=12)


def follow(sequence: Sequence[tuple[str, int]], folder: Path, encoder: type[HashEncoder] = HashEncoder) -> None:
    """Run one sequence of commands in a new world."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitmem.indexing.run.Pool", InlinePool)
        patch.setattr("gitmem.embedding.bundled.BundledEncoder", encoder)
        patch.setattr(InlinePool, "encoder", encoder())
        follower = Follower(folder)
        for command, number in sequence:
            follower.step(command, number)


@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps)
def test_after_any_commands_the_index_matches_the_tree(sequence: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        follow(sequence, Path(folder))


@pytest.mark.long
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps)
def test_after_two_thousand_commands_the_index_matches_the_tree(sequence: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        follow(sequence, Path(folder))


def test_control_an_index_without_uncommitted_changes_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.git.status.parse_status", lambda output: Status(parse_status(output).commit, []))
    with pytest.raises(AssertionError, match=r"another blob|not in the view"):
        follow([("append", 3), ("write", 1), ("append", 5)], tmp_path)


def test_control_an_index_whose_rows_depend_on_earlier_ones_is_caught(tmp_path: Path) -> None:
    class DriftingEncoder(HashEncoder):
        def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
            embeddings = super().encode(texts, before_step)
            return embeddings._replace(vectors=np.roll(embeddings.vectors, type(self).encoded, axis=1))

    with pytest.raises(AssertionError, match="the rows differ"):
        follow([("write", 1), ("commit -a", 1)], tmp_path, DriftingEncoder)


def test_control_most_commands_succeed(tmp_path: Path) -> None:
    """Control: a command that git always refuses would test nothing."""
    successful: set[str] = set()
    command = "the first commit"

    class RecordingWorld(World):
        def git(self, *args: str, at: Path | None = None) -> bool:
            succeeded = super().git(*args, at=at)
            if succeeded:
                successful.add(command)
            return succeeded

    for attempt in range(3):
        world = RecordingWorld(tmp_path / str(attempt))
        world.dice.seed(attempt)
        for command in [*sorted(COMMANDS, key=lambda _: world.dice.random())] * 2:
            COMMANDS[command](world)
    assert len(successful) >= 40, sorted(successful)
