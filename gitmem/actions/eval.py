"""Evaluate the search on this repository: past commits are labelled queries, their changed functions the answers.

Half of the queries are held out: the figures are theirs alone, and weights are fitted on the other half. If there are
too few queries for a fit, the figures are those of all. Trees of old commits are indexed in a scratch index that is
removed at the end.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from gitmem.answering.labelled_queries import MAX_TARGETS, NO_CODE, TOO_WIDE, LabelledQuery, find_targets, mine_queries
from gitmem.answering.query_encoder import query_encoder
from gitmem.answering.search_query import MODES
from gitmem.answering.weights_in_force import load_weights, ranking_fingerprint, reset_weights, store_weights
from gitmem.embedding.provider import selected_provider
from gitmem.errors import TooLittleHistory, UsageError
from gitmem.freshness.index_model import with_model_of
from gitmem.freshness.refresh import refresh
from gitmem.fsio import make_folder
from gitmem.indexing.run import Progress
from gitmem.indexing.scratch_index import ScratchIndex, open_scratch
from gitmem.locks import writer_lock
from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Quality, average
from gitmem.search.query_parser import parse_query
from gitmem.search.replay import JudgedRetrieval, judge_retrieval, measure_file_quality, measure_quality
from gitmem.search.retrieval import retrieve
from gitmem.search.scope import Filters, Scope
from gitmem.search.weight_fit import WeightFit, fit_weights
from gitmem.store.fitted_weights import Tuning
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.workspace import Workspace, require_index

MIN_QUERIES: Final = 15
"""Minimum number of queries in each half for a fit: fewer do not predict the quality of other queries."""

BLOCK: Final = 20
"""Most queries whose trees are indexed together. Fewer start the workers more often, more check the time less often.

The first block has one query and each further one twice as many, so that large trees give results early.
"""

NO_TIME: Final = "were not reached in time"

Report = Callable[[int, int], None]
"""Callback with the numbers of finished and of all queries."""


@dataclass(slots=True)
class Half:
    """Queries of one half: their candidates in hybrid mode, and the quality of results and of their files by mode."""

    trials: list[JudgedRetrieval] = field(default_factory=list)
    quality: dict[str, list[Quality]] = field(default_factory=lambda: {mode: [] for mode in MODES})
    file_quality: dict[str, list[Quality]] = field(default_factory=lambda: {mode: [] for mode in MODES})


@dataclass(slots=True)
class Evaluation:
    """Quality of the results; hybrid ones with the `weights` in force.

    `rejected` counts by reason those of the `commits` that gave no query.
    """

    commits: int
    weights: FusionWeights
    to_fit: Half
    held_out: Half
    rejected: Counter[str]
    notes: list[str]
    seconds: float

    @property
    def queries(self) -> int:
        """Number of queries in both halves."""
        return len(self.to_fit.trials) + len(self.held_out.trials)

    @property
    def is_split(self) -> bool:
        """Return whether both halves have enough queries for a fit."""
        return min(len(self.to_fit.trials), len(self.held_out.trials)) >= MIN_QUERIES

    @property
    def measured(self) -> list[Half]:
        """The halves that the figures are of: the held-out one, or both if no weights can be fitted on the other."""
        return [self.held_out] if self.is_split else [self.to_fit, self.held_out]

    @property
    def quality(self) -> dict[str, Quality]:
        """Quality of the results by mode."""
        return {mode: average([one for half in self.measured for one in half.quality[mode]]) for mode in MODES}

    @property
    def file_quality(self) -> dict[str, Quality]:
        """Quality of the files of the results by mode."""
        return {mode: average([one for half in self.measured for one in half.file_quality[mode]]) for mode in MODES}


def prepare(workspace: Workspace, report: Callable[[Progress], None] = lambda _: None) -> None:
    """Bring the index up to date, with progress. `evaluate` does it otherwise. Raises NoIndex."""
    refresh(_in_local_model(workspace), workspace.location.head_tree, report=report)


def _in_local_model(workspace: Workspace) -> Workspace:
    """Return the workspace with the model of its index. Raises: NoIndex, UsageError if that is a remote one."""
    own = with_model_of(workspace, require_index(workspace))
    provider = selected_provider(own.settings)
    if provider.is_remote:
        raise UsageError(
            f"an evaluation would send hundreds of old trees to the provider `{provider.name}`",
            hint="GITMEM_PROVIDER=bundled gitmem index, then GITMEM_PROVIDER=bundled gitmem eval",
        )
    return own


def evaluate(
    workspace: Workspace, *, commits: int, budget: float, report: Report = lambda _done, _total: None
) -> Evaluation:
    """Search for the subjects of at most `commits` commits, for about `budget` seconds.

    The figures are deterministic unless the time runs out.

    Raises: NoIndex, TooLittleHistory if no commit gave a query, Busy if another evaluation is running, GitFailed,
    StorageFailed, DamagedFile.
    """
    prepare(workspace)
    workspace = _in_local_model(workspace)
    started = time.monotonic()
    weights, note = load_weights(workspace)
    evaluator = _Evaluator(weights, workspace)
    mined = mine_queries(workspace.location, commits)
    evaluator.rejected.update(mined.rejected)
    _search_all(workspace, mined.queries, evaluator, started + budget, report)
    evaluation = Evaluation(
        commits=mined.commits,
        weights=evaluator.weights,
        to_fit=evaluator.halves[False],
        held_out=evaluator.halves[True],
        rejected=evaluator.rejected,
        notes=[note] if note else [],
        seconds=time.monotonic() - started,
    )
    if not evaluation.queries:
        raise TooLittleHistory("no usable commits", hint=_hint_at_more(workspace, evaluation))
    return evaluation


def require_halves(workspace: Workspace, evaluation: Evaluation) -> None:
    """Refuse to fit weights on too few queries. Raises TooLittleHistory."""
    if not evaluation.is_split:
        to_fit, held_out = (len(half.trials) for half in (evaluation.to_fit, evaluation.held_out))
        raise TooLittleHistory(
            f"{evaluation.queries} usable commits ({to_fit} to fit on, {held_out} held out), at least {MIN_QUERIES} of "
            "each are needed to fit weights",
            hint=_hint_at_more(workspace, evaluation),
        )


def _hint_at_more(workspace: Workspace, evaluation: Evaluation) -> str:
    """Return how to get more queries, "" if the history has no more."""
    if evaluation.rejected[NO_TIME]:
        return "allow more time: gitmem eval --budget 600"
    if workspace.location.shallow:
        return "this is a shallow clone; fetch the rest of its history: git fetch --unshallow"
    return ""


def require_weights(workspace: Workspace) -> None:
    """Refuse to fit weights that no query would use. Raises UsageError."""
    fusion = workspace.settings.fusion
    if fusion != "zscore":
        raise UsageError(f"`gitmem.fusion` is `{fusion}`, which has no weights", hint="git config gitmem.fusion zscore")


def tune(workspace: Workspace, evaluation: Evaluation, report: Report = lambda _done, _total: None) -> WeightFit:
    """Fit the fusion weights on one half. Put them in force if they rank the held-out half better, else the default.

    Raises: StorageFailed.
    """
    result = fit_weights(evaluation.to_fit.trials, evaluation.held_out.trials, FUSION_WEIGHTS, report)
    # Better means by more than the standard error on queries the weights were not fitted on.
    if result.is_better:
        queries = len(evaluation.held_out.trials)
        tuning = Tuning(
            ranking_fingerprint(workspace.settings), *result.weights, gain=result.held_out.mean, queries=queries
        )
        store_weights(workspace, tuning)
    else:
        reset_weights(workspace)
    return result


class _Evaluator:
    """Runs labelled queries one by one and collects the quality of their results."""

    def __init__(self, weights: FusionWeights, workspace: Workspace) -> None:
        self.weights = weights
        self.halves = {False: Half(), True: Half()}
        self.rejected: Counter[str] = Counter()
        self._fusion = workspace.settings.fusion
        self._encoder = query_encoder(workspace.settings, require_index(workspace).fingerprint)

    def search(self, labelled: LabelledQuery, snapshot: Snapshot, view: View) -> None:
        """Search in every mode, as `gitmem query --rev` would."""
        blob_of = snapshot.match(view)
        targets = find_targets(labelled, snapshot, view, blob_of)
        if not 0 < len(targets) <= MAX_TARGETS:
            self.rejected[TOO_WIDE if len(targets) else NO_CODE] += 1
            return
        scope = Scope(snapshot, view, Filters(), blob_of)
        query = parse_query(labelled.text)
        half = self.halves[labelled.held_out]
        # All modes share one retrieval of candidates; only the order of the results differs.
        for mode in MODES:
            trial = judge_retrieval(scope, retrieve(scope, query, self._encoder, mode=mode), targets)
            half.quality[mode].append(measure_quality(trial, self.weights, self._fusion))
            half.file_quality[mode].append(measure_file_quality(trial, self.weights, self._fusion))
            if mode == "hybrid":
                half.trials.append(trial)


def _search_all(
    workspace: Workspace, queries: Sequence[LabelledQuery], evaluator: _Evaluator, deadline: float, report: Report
) -> None:
    """Run the queries until all are done or the time is over. A block whose trees are indexed is always searched."""
    done = 0
    # Old trees go into a scratch index, so that an evaluation neither grows nor slows the index of the user.
    with _open_scratch(workspace) as scratch:
        for block in _make_blocks(queries):
            report(done, len(queries))
            if time.monotonic() > deadline:
                evaluator.rejected[NO_TIME] = len(queries) - done
                return
            # Trees close in time share most of their blobs, so a block of them is indexed together.
            held = scratch.index_trees([query.tree for query in block])
            for query, view in zip(block, held.views, strict=True):
                evaluator.search(query, held.snapshot, view)
                done += 1
                report(done, len(queries))


def _make_blocks(queries: Sequence[LabelledQuery]) -> Iterator[Sequence[LabelledQuery]]:
    first, size = 0, 1
    while first < len(queries):
        yield queries[first : first + size]
        first, size = first + size, min(2 * size, BLOCK)


@contextmanager
def _open_scratch(workspace: Workspace) -> Iterator[ScratchIndex]:
    """Open the scratch index, which one evaluation at a time may use. Raises Busy."""
    paths, settings, manifest = workspace.paths, workspace.settings, require_index(workspace)
    make_folder(paths.state)
    with (
        writer_lock(paths.scratch_lock, wait=False),
        open_scratch(workspace.location, paths.scratch, paths, manifest, settings=settings) as scratch,
    ):
        yield scratch
