"""What a harness found: how many cases it tried, and which were bad."""

import os
import resource
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

PROGRESS: Final = "TEST_GITMEM_PROGRESS"
"""Variable that makes harnesses print how far they are, in this process and in those that they start."""

_SHOWN: Final = 20
_EVERY_SECONDS: Final = 60.0


@dataclass(slots=True)
class Tally:
    """Cases and faults. A control is a harness that is given something broken: it must find faults, and miss none."""

    name: str
    control: bool = False
    cases: int = 0
    bad: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    _told: float = field(default_factory=time.monotonic)

    def note(self, case: str, faults: list[str]) -> None:
        """Take down one case and what was wrong with it."""
        self.cases += 1
        if faults:
            self.bad.append(f"{case}: {'; '.join(faults)}")
            if not self.control:
                print(f"BAD {self.bad[-1]}", file=sys.stderr, flush=True)
        if time.monotonic() - self._told > _EVERY_SECONDS:
            self.show_progress(case)

    def note_all(self, cases: Iterable[tuple[str, list[str]]]) -> None:
        """Take down cases one by one, of a control up to the first bad one."""
        for case, faults in cases:
            self.note(case, faults)
            if self.decided:
                break

    def add(self, part: "Tally") -> None:
        """Add what another process found."""
        self.cases += part.cases
        self.bad += part.bad
        self.missed += part.missed

    def show_progress(self, where: str) -> None:
        """Print how many cases there were until now, where progress is asked for."""
        self._told = time.monotonic()
        if PROGRESS in os.environ:
            told = f"... {self.cases:,} cases, {len(self.bad)} bad, {used_seconds():.0f} s CPU: {where}"
            print(told, file=sys.stderr, flush=True)

    @property
    def decided(self) -> bool:
        """Whether a control has found a fault: it has shown all that it is for, and need not go on."""
        return self.control and bool(self.bad)

    @property
    def passed(self) -> bool:
        return self.cases > 0 and bool(self.bad) == self.control and not self.missed

    def __str__(self) -> str:
        told = f"{self.name}: {self.cases:,} cases, {len(self.bad)} bad"
        if self.control:
            told += " (a control: some must be)"
        told += f", missed: {', '.join(self.missed)}" if self.missed else ""
        return "\n".join([told, *(f"  {line}" for line in self.bad[:_SHOWN] if not self.control)])


def used_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
