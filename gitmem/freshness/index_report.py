"""The report of an index run: what the tree holds, what was indexed, and what was skipped for which reason."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitmem.freshness.file_details import FileDetails


@dataclass(slots=True)
class IndexReport:
    """Result of a run. `parsed` and `as_text` count paths by language, `skipped` paths by reason.

    `embedded` and `reused` count blobs; `chunks...` count chunks. `text_bytes` is the size of the embedded text.
    `rebuilt` is the reason why the index was rebuilt, "" if it was not. `problems` has a line for each blob that could
    not be read or chunked, and `worker_losses` one for each worker that died for another reason.
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
    dry_run: bool = False
    """Whether the run has not happened: `embedded` is the number of blobs that it would embed."""
    details: "FileDetails | None" = None
    """Details of single files, if they were asked for."""
    problems: list[str] = field(default_factory=list)
    worker_losses: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """`success`, or `partial` if a blob could not be read or chunked."""
        return "partial" if self.problems else "success"

    @property
    def chunks_removed(self) -> int:
        """Number of chunks of the index before the run that it has no longer."""
        return max(0, self.chunks_before + self.chunks_added - self.chunks)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "tree": self.tree,
            "status": self.status,
            "up_to_date": self.up_to_date,
            "files": self.files,
            "parsed": dict(self.parsed),
            "as_text": dict(self.as_text),
            "skipped": dict(self.skipped),
            "blobs_embedded": self.embedded,
            "blobs_reused": self.reused,
            "chunks": self.chunks,
            "chunks_in_tree": self.chunks_in_view,
            "chunks_before": self.chunks_before,
            "chunks_added": self.chunks_added,
            "chunks_removed": self.chunks_removed,
            "text_bytes": self.text_bytes,
            "index_bytes": self.index_bytes,
            "seconds": round(self.seconds, 3),
            "rebuilt": self.rebuilt,
            "problems": self.problems,
            "worker_losses": self.worker_losses,
            **({"dry_run": True} if self.dry_run else {}),
            **(self.details.as_json() if self.details else {}),
        }
