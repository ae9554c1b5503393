"""Remove stored vectors of remote providers that nothing needs any more.

They were paid for, so all of them stay for two weeks, whatever the user asks for: a branch may come back, or a model.
"""

import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import StorageFailed
from gitmem.fsio import remove_tree
from gitmem.indexing.retention import Removed
from gitmem.paths import IndexPaths
from gitmem.store.manifest import Manifest
from gitmem.store.segment import Segment, find_segment
from gitmem.store.uncommitted_ids import KEEP_DAYS
from gitmem.store.vector_files import drop_unused, iter_model_folders, iter_vector_files, model_folder

KEEP_SECONDS: Final = KEEP_DAYS * 86_400.0
"""How long a vector outlives its last use."""


def remove_unused_vectors(
    paths: IndexPaths, manifest: Manifest, models: Collection[str], *, dry: bool = False
) -> Removed:
    """Remove vectors of texts that the index no longer has, and all of models that are not among `models`.

    The caller holds the writer lock. With `dry` only count. Raises: DamagedFile.
    """
    removed = Removed()
    in_use = {model_folder(paths.vectors, model) for model in models}
    segments = [find_segment(paths.segments, entry) for entry in manifest.segments]
    for folder in list(iter_model_folders(paths.vectors)):
        if folder not in in_use:
            removed += _remove_model(folder, dry=dry)
        elif None not in segments:  # of a lost segment nobody knows which texts it had
            removed += _remove_texts(folder, [segment for segment in segments if segment is not None], dry=dry)
    return removed


def _remove_model(folder: Path, *, dry: bool) -> Removed:
    # Each run and query that opens the vectors of a model touches their folder.
    if not _is_old(folder):
        return Removed()
    sizes = [file.stat().st_size for file in iter_vector_files(folder)]
    if not dry:
        remove_tree(folder)
    return Removed(len(sizes), sum(sizes))


def _remove_texts(folder: Path, segments: Collection[Segment], *, dry: bool) -> Removed:
    def is_used(contents: NDArray[np.uint8]) -> NDArray[np.bool_]:
        used = np.zeros(len(contents), np.bool_)
        for segment in segments:
            places = np.flatnonzero(~used)
            used[places] = segment.find_contents(contents[places]) >= 0
        return used

    removed = Removed()
    for file in iter_vector_files(folder):
        with suppress(StorageFailed, FileNotFoundError):
            freed = drop_unused(file, is_used, write=not dry) if _is_old(file) else 0
            removed += Removed(int(freed > 0), freed)
    return removed


def _is_old(path: Path) -> bool:
    # abs: after the clock was set back, a time in the future does not protect a file for ever.
    return abs(time.time() - path.stat().st_mtime) >= KEEP_SECONDS
