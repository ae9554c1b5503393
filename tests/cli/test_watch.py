"""`gitmem watch` as a process."""

import signal
import subprocess
import sys

from tests.gitrepo import Repo, isolated_environment


def test_watch_reports_indexed_blobs_and_ends_with_ctrl_c(own: Repo) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "-C", str(own.path), "watch"],
        env=isolated_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        own.write({"added.py": "def added_just_now():\n    return 'something new'\n"})
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert line.endswith(": 1 blob embedded\n")
        assert process.stderr.read() == ""
