"""The long form of the hook matrix, with its control.

usage: python -m tests.hooks [ROUNDS]

A round is 12 git commands in 6 environments, 102 commits. The hooks of the control wait for gitmem and print its
output, so the control must fail.
"""

import os
import sys

from tests.hooks.matrix import run

_ROUNDS = 10


def main(arguments: list[str]) -> int:
    """Run both; return 0 if only the control has failures."""
    for name in [name for name in os.environ if name.startswith(("GITMEM_", "GIT_"))]:
        del os.environ[name]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    tally = run(int(arguments[0]) if arguments else _ROUNDS)
    print(tally)
    control = run(1, ["gitmem gone"], "naive")
    print(f"control: {len(control.bad)} bad")
    return 0 if not tally.bad and control.bad else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
