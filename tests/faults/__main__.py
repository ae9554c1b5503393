"""Fault harnesses, each with a control that must fail.

usage: python -m tests.faults HARNESS [--long]

The short form is part of the test suite. Exit code 0: no bad case, and the control had some.
"""

import sys
import time
from importlib import import_module
from typing import Final

HARNESSES: Final = {
    "kill": "SIGKILL at every system call that changes something",
    "flips": "flipped bits, cuts, zeros and noise in every file of the store",
    "forge": "forged files whose checksums are right",
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
}


def main(arguments: list[str]) -> int:
    """Run one harness and its control."""
    long = "--long" in arguments
    names = [argument for argument in arguments if not argument.startswith("-")]
    if len(names) != 1 or names[0] not in HARNESSES:
        print(__doc__)
        for name, meaning in HARNESSES.items():
            print(f"  {name:13} {meaning}")
        return 2
    harness = import_module(f"tests.faults.{names[0]}")
    started = time.process_time(), time.monotonic()
    tallies = [harness.run(long=long), harness.run_control()]
    for tally in tallies:
        print(tally)
    print(f"{time.monotonic() - started[1]:.0f} s, of them {time.process_time() - started[0]:.0f} s in this process")
    return 0 if all(tally.passed for tally in tallies) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
