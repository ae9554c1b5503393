"""The model of an index run: whether it replaces that of the index, and what is said before a provider gets text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gitmem.display import count, size
from gitmem.embedding.encoders import load
from gitmem.embedding.provider import selected_provider
from gitmem.git.objects import open_reader
from gitmem.indexing.embedding_stage import EmbeddingStage, open_stage
from gitmem.indexing.fingerprint import current_fingerprint, differs_in_model_only, is_made_with, with_dimensions
from gitmem.indexing.missing_blobs import MissingBlob
from gitmem.store.manifest import Manifest
from gitmem.store.vector_files import model_folder
from gitmem.store.vector_levels import SEARCHED_LEVELS
from gitmem.workspace import Workspace

CHUNK_BYTES: Final = 700
"""Text of a chunk on average, see `docs/indexing.md`."""

ROW_BYTES: Final = 330
"""Bytes of a row on average without its vector: words, places and names."""


class SelectedModel:
    """The selected provider during one run. `fingerprint` is that of the index that the run makes or extends.

    `replaces_index` says that another model made the existing index, which stays until the new one is complete.
    """

    def __init__(
        self, workspace: Workspace, old: Manifest | None, announce: Callable[[str], None], *, full: bool
    ) -> None:
        """Ask a provider for its dimensions if no index has them. Raises: ConfigError, ProviderFailed."""
        self._workspace = workspace
        self._announce = announce
        self._provider = selected_provider(workspace.settings)
        if old is not None and is_made_with(old.fingerprint, workspace.settings) and not full:
            self.fingerprint, self.replaces_index = old.fingerprint, False
            return
        self.fingerprint = current_fingerprint(workspace.settings)
        # A full run asks again: under the same name the provider may serve vectors of another length now.
        if not self._provider.is_bundled:
            self._announce_data()
            self.fingerprint = with_dimensions(self.fingerprint, self._learn_dimensions())
        self.replaces_index = old is not None and differs_in_model_only(old.fingerprint, self.fingerprint)

    def open_stage(
        self, missing: Sequence[MissingBlob], files: Mapping[str, bytes], *, is_new: bool
    ) -> EmbeddingStage | None:
        """Return the stage that embeds, None if workers do. A new index is announced with its size."""
        stage = open_stage(self._workspace.settings, self._workspace.paths, self.fingerprint)
        if stage is not None and is_new:
            with open_reader(self._workspace.location, bulk=True, files=files) as reader:
                sizes = [
                    number
                    for number in reader.sizes(blob.oid for blob in missing)
                    if number is not None and number <= self._workspace.settings.max_file_bytes
                ]
            chunks = sum(max(1, number // CHUNK_BYTES) for number in sizes)
            total = chunks * (ROW_BYTES + SEARCHED_LEVELS.width(stage.dimensions) + stage.dimensions // 8)
            self._announce(
                f"{count(len(sizes), 'file')} in about {count(chunks, 'chunk')} of {stage.dimensions} dimensions: "
                f"an index of about {size(total)}"
            )
        return stage

    def _learn_dimensions(self) -> int:
        """Ask the provider for the length of its vectors, and announce each reason for which it makes the run wait."""
        causes = set()

        def announce_wait(reason: str = "") -> None:
            # The progress of the run begins later. The seconds that are left change; one line for each cause is enough.
            cause = reason.rpartition(",")[0]
            if cause and cause not in causes:
                causes.add(cause)
                self._announce(reason)

        return load(self._provider, 0).learn_dimensions(announce_wait)

    def _announce_data(self) -> None:
        """Say once for each repository and model which data a remote provider gets."""
        folder = model_folder(self._workspace.paths.vectors, self._provider.fingerprint)
        if self._provider.is_remote and not folder.exists():
            self._announce(self._provider.data_notice)
