"""Stopping a run at any point: hardly anything is embedded afterwards, and a resumed run ends like any other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.embedding.encoder import STEP_TEXTS, Embeddings
from gitmem.errors import Cancelled
from gitmem.freshness.cancellation import read_run, request_stop
from gitmem.identifier_counts import Bags
from gitmem.workspace import require_index
from tests.gitrepo import Repo
from tests.indexes import HashEncoder, InlinePool, dump_rows, index, snapshot_of, workspace_of
from tests.properties.test_runs import drop_index

FILES = 24
FUNCTIONS = 12
"""More functions per file than the texts that are embedded between two looks at the request."""

some = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class StoppingEncoder(HashEncoder):
    """Encoder during whose n-th step another process requests the end of the run, right after the run looked."""

    def __init__(self, repo: Repo, step: int) -> None:
        self._paths = workspace_of(repo).paths
        self._left = step
        self.after = 0

    def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        def step() -> None:
            before_step()
            self._left -= 1
            if self._left == 0:
                run = read_run(self._paths)
                assert run is not None
                request_stop(self._paths, run)
                self._before = type(self).encoded

        try:
            return super().encode(texts, step)
        finally:
            self.after = type(self).encoded - self._before if self._left <= 0 else 0


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a repository whose files differ in size."""
    repo = Repo.init(tmp_path / "repo")
    repo.commit({
        f"file{number:02}.py": "\n\n".join(
            f"def load_{number}_{item}(value):\n" + "".join(f"    value += {item * line}\n" for line in range(50))
            for item in range(1 + number % FUNCTIONS)
        )
        for number in range(FILES)
    })  # fmt: skip
    return repo


@pytest.mark.parametrize("full", [False, True])
def test_a_stopped_run_embeds_ten_more_chunks_at_most_and_a_resumed_one_ends_like_any_other(
    repo: Repo, fake_model: type[InlinePool], monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Check property 49, cancel, of runs that start anew or continue."""
    monkeypatch.setattr("gitmem.indexing.run.BATCH_BLOBS", 2)
    index(repo)
    expected, blobs = dump_rows(snapshot_of(repo)), require_index(workspace_of(repo)).blobs
    steps = len(expected) // STEP_TEXTS
    assert steps > 10

    @some
    @given(step=st.integers(1, steps))
    def stop_and_resume(step: int) -> None:
        drop_index(repo)
        if full:
            monkeypatch.setattr(fake_model, "encoder", HashEncoder())
            index(repo)
        encoder = StoppingEncoder(repo, step)
        monkeypatch.setattr(fake_model, "encoder", encoder)
        command = "gitmem index --full" if full else "gitmem index"
        with pytest.raises(
            Cancelled, match=r"stopped by `gitmem cancel` (after \d+ of 24|before its first) file"
        ) as stop:
            index(repo, full=full, resume=command)
        assert stop.value.hint == f"completed work is kept; continue with: {command}"
        assert encoder.after <= 10
        if full:
            assert dump_rows(snapshot_of(repo)) == expected, "the old index answers until the new one is complete"
        monkeypatch.setattr(fake_model, "encoder", HashEncoder())
        report = index(repo, full=full)
        done = int(stop.value.message.split()[5]) if "after" in stop.value.message else 0
        assert report.embedded == blobs - done
        assert dump_rows(snapshot_of(repo)) == expected
        assert not workspace_of(repo).paths.unfinished.exists()

    stop_and_resume()
