"""The fusion weights in force: those fitted on this repository where they hold for today's model and ranking."""

import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from gitmem.errors import Busy, DamagedFile, NewerFormat, StorageFailed
from gitmem.fsio import make_folder, remove_file
from gitmem.indexing.fingerprint import model_fingerprint
from gitmem.locks import writer_lock
from gitmem.store.fitted_weights import Tuning, find_tuning, write_tuning
from gitmem.workspace import Workspace, require_index

if TYPE_CHECKING:
    from gitmem.search.fuse import FusionWeights


DEFAULT: Final = "default"
FITTED: Final = "fitted"
OUTDATED: Final = "outdated"
UNREADABLE: Final = "unreadable"


class TuningState(NamedTuple):
    """Which weights are in force: fitted ones where `state` is FITTED, else the default ones.

    `found` are the weights of the index, OUTDATED where they were fitted for another model or ranking; `problem` says
    why they are UNREADABLE.
    """

    state: str
    found: Tuning | None = None
    problem: str = ""


def read_tuning(workspace: Workspace) -> TuningState:
    """Look at the weights of an index; changes nothing."""
    try:
        found = find_tuning(workspace.paths.tuning)
    except (DamagedFile, NewerFormat) as problem:
        return TuningState(UNREADABLE, problem=problem.message)
    if found is None:
        return TuningState(DEFAULT)
    return TuningState(FITTED if found.maker == maker() else OUTDATED, found)


def maker() -> str:
    """What weights are fitted for: the model, and the ranking that they are a part of."""
    from gitmem.search.engine import FUSION_WEIGHTS
    from gitmem.search.rank import WEIGHTS

    ranking = zlib.crc32(repr((FUSION_WEIGHTS, WEIGHTS)).encode())
    return f"{model_fingerprint()}:{ranking:08x}"


def load_weights(workspace: Workspace, notes: list[str]) -> "FusionWeights":
    """The weights a question is ranked by. A damaged file is told of, once, and taken away."""
    from gitmem.search.engine import FUSION_WEIGHTS
    from gitmem.search.fuse import FusionWeights

    made = read_tuning(workspace)
    if made.state == UNREADABLE:
        notes.append(f"{made.problem}; the default weights are used, `gitmem eval --tune` fits others")
        with suppress(Busy, StorageFailed):
            _drop_damaged(workspace)
    if made.found is None or made.state != FITTED:
        return FUSION_WEIGHTS
    return FusionWeights(made.found.semantic, made.found.lexical)


def _drop_damaged(workspace: Workspace) -> None:
    with writer_lock(workspace.paths.lock, wait=False):
        try:
            find_tuning(workspace.paths.tuning)
        except DamagedFile:
            remove_file(workspace.paths.tuning)
        except NewerFormat:
            return


def store_weights(workspace: Workspace, tuning: Tuning) -> None:
    """Publish weights. Raises StorageFailed."""
    with writer_lock(workspace.paths.lock, wait=True):
        make_folder(workspace.paths.state)
        write_tuning(workspace.paths.tuning, tuning)


def reset_weights(workspace: Workspace) -> bool:
    """Go back to the default weights; False where they are in use already. Raises NoIndex, StorageFailed."""
    require_index(workspace)
    if not workspace.paths.tuning.exists():
        return False
    with writer_lock(workspace.paths.lock, wait=True):
        remove_file(workspace.paths.tuning)
    return True
