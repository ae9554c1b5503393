"""What a harness found: how many cases it tried, and which were bad."""

import sys
from dataclasses import dataclass, field

_SHOWN = 20


@dataclass(slots=True)
class Tally:
    """Cases and faults. A control is a harness that is given something broken: it must find faults, and miss none."""

    name: str
    control: bool = False
    cases: int = 0
    bad: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def note(self, case: str, faults: list[str]) -> None:
        """Take down one case and what was wrong with it."""
        self.cases += 1
        if faults:
            self.bad.append(f"{case}: {'; '.join(faults)}")
            if not self.control:
                print(f"BAD {self.bad[-1]}", file=sys.stderr, flush=True)

    @property
    def passed(self) -> bool:
        return self.cases > 0 and bool(self.bad) == self.control and not self.missed

    def __str__(self) -> str:
        told = f"{self.name}: {self.cases:,} cases, {len(self.bad)} bad"
        if self.control:
            told += " (a control: some must be)"
        told += f", missed: {', '.join(self.missed)}" if self.missed else ""
        return "\n".join([told, *(f"  {line}" for line in self.bad[:_SHOWN] if not self.control)])
