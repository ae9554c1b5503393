"""Fault harnesses, each with a control that must fail.

usage: python -m tests.faults HARNESS [--long [--scenario NAME]]

The short form is part of the test suite. Exit code 0: no bad case, and the control had some. The long form prints every
minute how far it is. A long form of several scenarios can be run one scenario at a time, for example to go on with one
that was stopped.
"""

import os
import sys
import time
from importlib import import_module
from typing import Final

from tests.__main__ import temporary_files
from tests.faults.report import PROGRESS, used_seconds

HARNESSES: Final = {
    "kill": "SIGKILL at every system call that changes something",
    "flips": "flipped bits, cuts, zeros and noise in every file of the store",
    "forge": "forged files whose checksums are right",
    "past_kill": "the same while the past is indexed or collected",
    "past_flips": "flipped bits, cuts, zeros and noise in the files of the past",
    "power": "power cuts: every prefix of the calls, in every order the file system allows",
    "syncs": "each single sync left out alone: a power cut must show that it was needed",
    "chaos": "random kills, torn and short writes, errors, double faults",
    "mounts": "full disks, no inodes, read-only, overlays: real file systems, mounted for the purpose",
    "torture": "files made to hurt, each within 2 s of processor time and 512 MiB",
    "cuts": "power cuts of a real ext4 in a file",
    "crowd": "8 writers, some of them killed, and 16 readers",
    "records_kill": "SIGKILL of who changes records, at each call that changes a file and at any moment",
    "records_fault": "full disks, errors, short and torn writes while records change",
    "records_power": "power cuts while records change",
    "records_crowd": "16 processes that change records at once",
    "sharing_kill": "SIGKILL of who synchronises records and of git on both sides, and garbage collection afterwards",
    "index_kill": "SIGKILL of the push or pull of an index and of git on both sides, and garbage collection afterwards",
    "org_publish": "servers and connections that die at each statement of a publication",
    "org_disk": "full disks of a server",
    "org_failover": "servers that fail while a replica is behind",
    "org_ray": "processes, nodes and publishers that die while a cluster indexes (needs Ray)",
    "org_shares": "publications to several servers, of which one is killed",
    "org_rights": "queries of many people over many published repositories",
    "convergence": "clones that share records, with partitions, kills, purges and wrong clocks",
}


def main(arguments: list[str]) -> int:
    """Run one harness and its control."""
    name, *options = arguments or [""]
    long, only = options[:1] == ["--long"], options[2] if options[1:2] == ["--scenario"] and options[2:] else ""
    if name not in HARNESSES or options != (["--long"] if long else []) + (["--scenario", only] if only else []):
        print(__doc__)
        for each, meaning in HARNESSES.items():
            print(f"  {each:13} {meaning}")
        return 2
    with temporary_files() as folder:
        os.environ["TMPDIR"] = str(folder)
        return run(name, long=long, only=only)


def run(name: str, *, long: bool, only: str) -> int:
    """Run a harness and its control, and print the results and their costs."""
    os.environ |= {PROGRESS: "1"} if long else {}
    harness = import_module(f"tests.faults.{name}")
    if only and only not in [scenario.name for scenario in getattr(harness, "SCENARIOS", ())]:
        print(f"{name} has no scenario `{only}`")
        return 2
    started = time.monotonic()
    tally = harness.run(long=long, only=only) if only else harness.run(long=long)
    print(tally)
    print(f"{time.monotonic() - started:.0f} s, {used_seconds():.0f} s CPU", flush=True)
    control = harness.run_control()
    print(control)
    print(f"{time.monotonic() - started:.0f} s, {used_seconds():.0f} s CPU with the control")
    return 0 if tally.passed and control.passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
