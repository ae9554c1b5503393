"""Flipped bits, cuts, zeroed tails and noise in the files of the past: deflated sections, records, lives."""

import tempfile
from pathlib import Path

from tests.faults.flips import harm_files, without_checksums
from tests.faults.oracle import small_steps
from tests.faults.past_worlds import make_past_index, past_files, tell_past
from tests.faults.report import Tally


def run(*, long: bool) -> Tally:
    """Twenty thousand cases, or some of each file and harm."""
    return _run(Tally("flipped bits, cuts, zeros and noise in the past"), 20_000 if long else 60)


def run_control() -> Tally:
    """The same by a reader that looks at no checksum."""
    with without_checksums():
        return _run(Tally("the same without checksums", control=True), 240)


def _run(tally: Tally, number: int) -> Tally:
    with tempfile.TemporaryDirectory() as place, small_steps():
        workspace = make_past_index(Path(place))
        wanted = tell_past(workspace)
        assert isinstance(wanted, list)
        harm_files(workspace, past_files(workspace), number, wanted, tally, tell_past)
    return tally
