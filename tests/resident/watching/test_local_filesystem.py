"""File systems that other machines may write to are recognised."""

import sys
from pathlib import Path

import pytest

from gitmem.resident.watching.local_filesystem import is_local


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/mountinfo")
def test_a_temporary_folder_is_local_and_the_process_table_is_not(tmp_path: Path) -> None:
    assert is_local(tmp_path)
    assert not is_local(Path("/proc/self"))
