"""How good the answers are in this very repository: ask what its history asks, compare with what its history changed.

Half of the questions are held out: the figures are of them alone, and weights are fitted on the other half. Trees of
old commits are indexed in a scratch index that is removed at the end.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from gitmem.answering.labelled_queries import MAX_TARGETS, NO_CODE, TOO_WIDE, Question, draft_questions, find_targets
from gitmem.answering.search_query import MODES
from gitmem.answering.weights_in_force import load_weights, maker, reset_weights, store_weights
from gitmem.embedding import bundled
from gitmem.errors import TooLittleHistory, UsageError
from gitmem.freshness.refresh import refresh
from gitmem.fsio import make_folder
from gitmem.indexing.run import Progress
from gitmem.indexing.scratch import Scratch, open_scratch
from gitmem.locks import writer_lock
from gitmem.search.engine import FUSION_WEIGHTS, retrieve
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Quality, average
from gitmem.search.query_parser import parse_query
from gitmem.search.replay import JudgedRetrieval, judge_retrieval, measure_quality
from gitmem.search.scope import Filters, Scope
from gitmem.search.weight_fit import Fit, fit
from gitmem.store.fitted_weights import Tuning
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.workspace import Workspace, require_index

LEAST: Final = 15
"""Questions that each half must have: fewer say nothing about another question."""

BLOCK: Final = 20
"""Questions whose trees are indexed together: fewer start the workers more often, more look at the clock less often."""

NO_TIME: Final = "were not reached in time"

Report = Callable[[int, int], None]
"""Takes how much is done and how much there is to do."""


@dataclass(slots=True)
class Half:
    """Questions of one half with what they found in hybrid mode, and what each mode's answers were worth."""

    trials: list[JudgedRetrieval] = field(default_factory=list)
    quality: dict[str, list[Quality]] = field(default_factory=lambda: {mode: [] for mode in MODES})


@dataclass(slots=True)
class Evaluation:
    """What was asked and how good the answers were, hybrid ones by the `weights` in force.

    `left_out` says why others of the `commits` looked at ask nothing.
    """

    commits: int
    weights: FusionWeights
    to_fit: Half
    held_out: Half
    left_out: Counter[str]
    notes: list[str]
    seconds: float

    @property
    def questions(self) -> int:
        return len(self.to_fit.trials) + len(self.held_out.trials)

    @property
    def quality(self) -> dict[str, Quality]:
        """By mode, over the held-out half."""
        return {mode: average(values) for mode, values in self.held_out.quality.items()}


def prepare(workspace: Workspace, report: Callable[[Progress], None] = lambda _: None) -> None:
    """Bring the index up to date; what `evaluate` does itself where it was not done before. Raises NoIndex."""
    require_index(workspace)
    refresh(workspace, workspace.location.head_tree, report=report)


def evaluate(
    workspace: Workspace, *, commits: int, budget: float, report: Report = lambda _done, _total: None
) -> Evaluation:
    """Ask what at most so many commits ask, for about so many seconds.

    The same repository gives the same figures, unless time runs out.

    Raises: NoIndex, TooLittleHistory, Busy where another evaluation is running, GitFailed, StorageFailed, DamagedFile.
    """
    prepare(workspace)
    started = time.monotonic()
    notes: list[str] = []
    exam = _Exam(load_weights(workspace, notes), workspace.settings.fusion)
    drafted = draft_questions(workspace.location, commits)
    exam.left_out.update(drafted.left_out)
    _ask_all(workspace, drafted.questions, exam, started + budget, report)
    _require_enough(workspace, exam)
    return Evaluation(
        commits=drafted.commits,
        weights=exam.weights,
        to_fit=exam.halves[False],
        held_out=exam.halves[True],
        left_out=exam.left_out,
        notes=notes,
        seconds=time.monotonic() - started,
    )


def require_weights(workspace: Workspace) -> None:
    """Refuse to fit what no question would use. Raises UsageError."""
    fusion = workspace.settings.fusion
    if fusion != "zscore":
        raise UsageError(f"`gitmem.fusion` is `{fusion}`, which has no weights", hint="git config gitmem.fusion zscore")


def tune(workspace: Workspace, made: Evaluation, report: Report = lambda _done, _total: None) -> Fit:
    """Fit the fusion weights on one half. Where the other is answered better by them they are in force from now on,
    else the default ones. Raises StorageFailed."""
    found = fit(made.to_fit.trials, made.held_out.trials, FUSION_WEIGHTS, report)
    if found.is_better:
        questions = len(made.held_out.trials)
        store_weights(workspace, Tuning(maker(), *found.weights, gain=found.held_out.mean, questions=questions))
    else:
        reset_weights(workspace)
    return found


class _Exam:
    """Asks questions one by one and gathers what the answers are worth."""

    def __init__(self, weights: FusionWeights, fusion: str) -> None:
        self.weights = weights
        self.halves = {False: Half(), True: Half()}
        self.left_out: Counter[str] = Counter()
        self._fusion = fusion
        self._encoder = bundled.BundledEncoder()

    def ask(self, question: Question, snapshot: Snapshot, view: View) -> None:
        """Ask in every mode, as `gitmem query --rev` would."""
        blob_of = snapshot.match(view)
        targets = find_targets(question, snapshot, view, blob_of)
        if not 0 < len(targets) <= MAX_TARGETS:
            self.left_out[TOO_WIDE if len(targets) else NO_CODE] += 1
            return
        scope = Scope(snapshot, view, Filters(), blob_of)
        query = parse_query(question.text)
        half = self.halves[question.held_out]
        for mode in MODES:
            trial = judge_retrieval(scope, retrieve(scope, query, self._encoder, mode=mode), targets)
            half.quality[mode].append(measure_quality(trial, self.weights, self._fusion))
            if mode == "hybrid":
                half.trials.append(trial)


def _ask_all(workspace: Workspace, questions: Sequence[Question], exam: _Exam, deadline: float, report: Report) -> None:
    """Ask until all is asked or time is over."""
    asked = 0
    with _open_scratch(workspace) as scratch:
        for question, snapshot, view in _take_blocks(questions, scratch):
            if time.monotonic() > deadline:
                exam.left_out[NO_TIME] = len(questions) - asked
                return
            exam.ask(question, snapshot, view)
            asked += 1
            report(asked, len(questions))


@contextmanager
def _open_scratch(workspace: Workspace) -> Iterator[Scratch]:
    """One evaluation at a time has the place."""
    paths, settings, manifest = workspace.paths, workspace.settings, require_index(workspace)
    limits = {"max_file_bytes": settings.max_file_bytes, "jobs": settings.jobs}
    make_folder(paths.state)
    with (
        writer_lock(paths.scratch_lock, wait=False),
        open_scratch(workspace.location, paths.scratch, paths, manifest, **limits) as scratch,
    ):
        yield scratch


def _take_blocks(questions: Sequence[Question], scratch: Scratch) -> Iterator[tuple[Question, Snapshot, View]]:
    """Each question with the index and the view of its tree. Neighbours in time share most of their blobs, so they are
    indexed together."""
    for first in range(0, len(questions), BLOCK):
        block = questions[first : first + BLOCK]
        held = scratch.take([question.tree for question in block])
        for question, view in zip(block, held.views, strict=True):
            yield question, held.snapshot, view


def _require_enough(workspace: Workspace, exam: _Exam) -> None:
    """Refuse to judge by too few questions. Raises TooLittleHistory."""
    to_fit, held_out = (len(exam.halves[half].trials) for half in (False, True))
    if min(to_fit, held_out) >= LEAST:
        return
    hint = ""
    if exam.left_out[NO_TIME]:
        hint = "give it more time: gitmem eval --budget 600"
    elif workspace.location.shallow:
        hint = "this is a shallow clone, its history is cut; get the rest with: git fetch --unshallow"
    raise TooLittleHistory(
        f"{to_fit + held_out} usable commits ({to_fit} to fit on, {held_out} held out), at least {LEAST} of each are "
        "needed",
        hint=hint,
    )
