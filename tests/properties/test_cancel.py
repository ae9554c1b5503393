"""Stopping a run at any point: hardly anything is embedded afterwards, and a resumed run ends like any other."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.embedding.encoder import STEP_TEXTS, Embeddings
from gitmem.errors import Cancelled
from gitmem.freshness.cancellation import read_run, request_stop
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import RefreshSettings, refresh
from gitmem.identifier_counts import Bags
from gitmem.paths import IndexPaths
from gitmem.store.manifest import Manifest, find_manifest
from gitmem.store.snapshot import Snapshot
from tests.gitrepo import Repo
from tests.indexes import DumpedRow, HashEncoder, InlinePool, dump_rows, workspace_of

FILES = 10
FUNCTIONS = 13
"""More functions in some files than the texts that are embedded between two looks at the request."""

many = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class StoppingEncoder(HashEncoder):
    """Encoder during whose n-th step another process requests the end of the run, right after the run looked."""

    def __init__(self, paths: IndexPaths, step: int) -> None:
        self._paths = paths
        self._left = step
        self._before = 0

    @property
    def after(self) -> int:
        """Return the number of texts embedded since the request."""
        return type(self).encoded - self._before

    def encode(self, texts: Bags, before_step: Callable[[], None] = lambda: None) -> Embeddings:
        def step() -> None:
            before_step()
            self._left -= 1
            if self._left == 0:
                run = read_run(self._paths)
                assert run is not None
                request_stop(self._paths, run)
                self._before = type(self).encoded

        return super().encode(texts, step)


class Place:
    """Repository whose files differ in size, its index as one run leaves it, and the steps of such a run."""

    def __init__(self, folder: Path, pool: type[InlinePool]) -> None:
        repo = Repo.init(folder)
        repo.commit({
            f"file{number:02}.py": "\n\n".join(
                f"def load_{number}_{item}(value):\n" + "".join(f"    value += {item * line}\n" for line in range(25))
                for item in range(1 + (5 * number) % FUNCTIONS)
            )
            for number in range(FILES)
        })  # fmt: skip
        self.workspace = workspace_of(repo)
        self._pool = pool
        self.run(HashEncoder(), full=False)
        self.expected, self.blobs = self.rows(), self.manifest().blobs
        self.steps = len(self.expected) // STEP_TEXTS
        assert self.steps >= 5

    def run(self, encoder: HashEncoder, *, full: bool) -> IndexReport:
        """Index HEAD."""
        self._pool.encoder = encoder
        command = "gitmem index --full" if full else "gitmem index"
        return refresh(self.workspace, self.workspace.location.head_tree, RefreshSettings(full=full, resume=command))

    def manifest(self) -> Manifest:
        """Read the manifest."""
        manifest = find_manifest(self.workspace.paths.manifest)
        assert manifest is not None
        return manifest

    def rows(self) -> set[DumpedRow]:
        """Read all rows."""
        return dump_rows(Snapshot(self.workspace.paths, self.manifest()))


@pytest.fixture
def place(tmp_path: Path, fake_model: type[InlinePool]) -> Place:
    """Share one place between all examples; each leaves a complete index."""
    return Place(tmp_path / "repo", fake_model)


@many
@given(data=st.data(), full=st.booleans(), batch=st.integers(1, FILES))
def test_a_stopped_run_embeds_ten_more_chunks_at_most_and_a_resumed_one_ends_like_any_other(
    place: Place, monkeypatch: pytest.MonkeyPatch, data: st.DataObject, full: bool, batch: int
) -> None:
    """Property 49: Cancel.

    A run that starts anew or continues is stopped at any step. The pool has one worker: each embeds ten more at most.
    """
    monkeypatch.setattr("gitmem.indexing.blob_batches.BATCH_BLOBS", batch)
    if not full:
        shutil.rmtree(place.workspace.paths.root)
    encoder = StoppingEncoder(place.workspace.paths, data.draw(st.integers(1, place.steps)))
    with pytest.raises(Cancelled, match=r"stopped by `gitmem cancel` (after \d+ of 10|before its first) file") as stop:
        place.run(encoder, full=full)
    assert stop.value.hint == f"completed work is kept; continue with: gitmem index{' --full' * full}"
    assert encoder.after <= 10
    if full:
        assert place.rows() == place.expected, "the old index answers until the new one is complete"
    done = int(stop.value.message.split()[5]) if "after" in stop.value.message else 0
    assert place.run(HashEncoder(), full=full).embedded == place.blobs - done
    assert place.rows() == place.expected
    assert not place.workspace.paths.unfinished.exists()
