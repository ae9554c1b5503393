"""The fusion weights in force: those fitted on this repository if they belong to today's model and ranking."""

import zlib
from contextlib import suppress
from typing import Final

from gitmem.embedding.provider import model_fingerprint
from gitmem.errors import Busy, DamagedFile, NewerFormat, StorageFailed
from gitmem.fsio import make_folder, remove_file
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.fuse import FusionWeights
from gitmem.search.rank import WEIGHTS
from gitmem.settings import Settings
from gitmem.store.fitted_weights import Tuning, find_tuning, write_tuning
from gitmem.workspace import Workspace, require_index

DEFAULT: Final = "default"
FITTED: Final = "fitted"
OUTDATED: Final = "outdated"
UNREADABLE: Final = "unreadable"


class TuningState(NamedTuple):
    """Which weights are in force: the fitted ones if `state` is FITTED, else the default ones.

    `weights` are the stored ones; they are OUTDATED if they were fitted for another model or ranking. `problem` is the
    reason if they are UNREADABLE.
    """

    state: str
    weights: Tuning | None = None
    problem: str = ""


def read_tuning(workspace: Workspace) -> TuningState:
    """Return the state of an index's weights; change nothing."""
    try:
        weights = find_tuning(workspace.paths.tuning)
    except (DamagedFile, NewerFormat) as problem:
        return TuningState(UNREADABLE, problem=problem.message)
    if weights is None:
        return TuningState(DEFAULT)
    return TuningState(FITTED if weights.fingerprint == ranking_fingerprint(workspace.settings) else OUTDATED, weights)


def ranking_fingerprint(settings: Settings) -> str:
    """Return the fingerprint of the model and of the ranking that weights are fitted for."""

    # Fitted weights compensate for the other weights; under another table they could make ranking worse.
    ranking = zlib.crc32(repr((FUSION_WEIGHTS, WEIGHTS)).encode())
    return f"{model_fingerprint(settings)}:{ranking:08x}"


def load_weights(workspace: Workspace) -> tuple[FusionWeights, str]:
    """Return the weights in force, and a note for the user if a damaged file was removed, else ""."""

    tuning = read_tuning(workspace)
    if tuning.state == UNREADABLE:
        # Removing the file reports the damage once; if that fails, the next query reports it again.
        with suppress(Busy, StorageFailed):
            _remove_damaged(workspace)
        return FUSION_WEIGHTS, f"{tuning.problem}; the default weights are used, `gitmem eval --tune` fits others"
    if tuning.weights is None or tuning.state != FITTED:
        return FUSION_WEIGHTS, ""
    return FusionWeights(tuning.weights.semantic, tuning.weights.lexical), ""


def _remove_damaged(workspace: Workspace) -> None:
    with writer_lock(workspace.paths.lock, wait=False):
        try:  # another process may have replaced it before we had the lock
            find_tuning(workspace.paths.tuning)
        except DamagedFile:
            remove_file(workspace.paths.tuning)
        except NewerFormat:
            return


def store_weights(workspace: Workspace, tuning: Tuning) -> None:
    """Store weights; later queries use them. Raises StorageFailed."""
    with writer_lock(workspace.paths.lock, wait=True):
        make_folder(workspace.paths.state)
        write_tuning(workspace.paths.tuning, tuning)


def reset_weights(workspace: Workspace) -> bool:
    """Return to the default weights; return False if they are in force already. Raises NoIndex, StorageFailed."""
    require_index(workspace)
    if not workspace.paths.tuning.exists():
        return False
    with writer_lock(workspace.paths.lock, wait=True):
        remove_file(workspace.paths.tuning)
    return True
