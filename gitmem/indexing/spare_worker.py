"""An idle worker process that is kept for the next pool of a long-running process."""

import threading

from gitmem.indexing.worker_process import WorkerProcess


class SpareWorker:
    """At most one idle worker, for processes that often index a few blobs: starting one costs many times their work.

    Off until `seconds` is set to the time after which an unused worker is ended.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._worker: WorkerProcess | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    @property
    def enabled(self) -> bool:
        """Return whether a worker is kept at all."""
        return self.seconds > 0

    def take(self) -> WorkerProcess | None:
        """Hand over the worker to the first caller; None for all others."""
        with self._lock:
            worker, self._worker = self._worker, None
            if self._timer is not None:
                self._timer.cancel()
        return worker

    def put(self, worker: WorkerProcess) -> None:
        """Keep an idle worker, or end it if another is kept already."""
        with self._lock:
            if self._worker is None and self.enabled:
                self._worker = worker
                self._timer = threading.Timer(self.seconds, self.end)
                self._timer.daemon = True
                self._timer.start()
                return
        worker.end()  # outside the lock: it waits for the process
        worker.close()

    def end(self) -> None:
        """End the worker that is kept, if any."""
        worker = self.take()
        if worker is not None:
            worker.end()
            worker.close()


spare_worker = SpareWorker()
"""The spare worker of this process."""
