"""The report of an index run: what the tree holds, what was indexed, and what was skipped for which reason."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitmem.store.columns import OUTCOMES

# A run with nothing to do reports that without numpy, its largest import by far.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitmem.store.segment import Segment
    from gitmem.store.snapshot import Snapshot
    from gitmem.store.view_file import View


@dataclass(slots=True)
class IndexReport:
    """Result of a run. `parsed` and `as_text` count paths by language, `skipped` paths by reason.

    `embedded` and `reused` count blobs; `chunks...` count chunks. `text_bytes` is the size of the embedded text.
    `rebuilt` is the reason why the index was rebuilt, "" if it was not. `problems` has a line for each blob that could
    not be read or chunked.
    """

    tree: str
    up_to_date: bool = False
    files: int = 0
    parsed: Counter[str] = field(default_factory=Counter)
    as_text: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    reused: int = 0
    chunks_before: int = 0
    chunks: int = 0
    chunks_in_view: int = 0
    chunks_added: int = 0
    text_bytes: int = 0
    index_bytes: int = 0
    seconds: float = 0.0
    rebuilt: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """`success`, or `partial` if a blob could not be read or chunked."""
        return "partial" if self.problems else "success"

    def count_view(self, view: "View", snapshot: "Snapshot") -> None:
        """Count the paths of a view by their outcome in the index, and its chunks."""
        import numpy as np

        from gitmem.store.view_file import INDEXED, REASONS

        self.files = len(view)
        codes = np.bincount(view.reasons, minlength=len(REASONS))
        reasons = {REASONS[code]: int(paths) for code, paths in enumerate(codes) if paths and code != INDEXED}
        self.skipped.update(reasons)
        matches = snapshot.match(view)
        indexed = matches[matches >= 0]
        # Until the caller subtracts the embedded blobs, every blob of the view counts as reused.
        self.reused = len(np.unique(indexed))
        self.chunks_in_view = int((snapshot.blob_first[indexed + 1] - snapshot.blob_first[indexed]).sum())
        bases = snapshot.blob_bases
        for segment, first, end in zip(snapshot.segments, bases.tolist(), bases[1:].tolist(), strict=False):
            self._count_segment(segment, indexed[(indexed >= first) & (indexed < end)] - first)

    def _count_segment(self, segment: "Segment", blobs: "NDArray[np.int64]") -> None:
        """Add blobs of a segment, each once for every path of the view that has it."""
        import numpy as np

        # One bincount over (outcome, language) pairs instead of a Python step for each blob.
        pairs = segment.outcomes[blobs].astype(np.int64) * len(segment.languages) + segment.blob_languages[blobs]
        for pair, paths in enumerate(np.bincount(pairs).tolist()):
            if not paths:
                continue
            code, language_code = divmod(pair, len(segment.languages))
            outcome, language = OUTCOMES[code], segment.languages[language_code]
            if outcome == "parsed":
                self.parsed[language] += paths
            elif outcome == "text":
                self.as_text[language] += paths
            else:
                self.skipped[outcome] += paths
