"""Requests to stop an index run."""

import os
from pathlib import Path

import pytest

from gitmem.errors import Cancelled
from gitmem.indexing.stop_request import StopRequest


def test_checks_find_a_request_at_once_and_after_each_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: seconds)
    request = StopRequest(os.fspath(tmp_path / "cancel"), b"token")
    check = request.checks()
    check()
    (tmp_path / "cancel").write_bytes(b"token")
    check()  # within the interval: the file is not read
    with pytest.raises(Cancelled):
        request.checks()()
    seconds += 1
    with pytest.raises(Cancelled):
        check()
