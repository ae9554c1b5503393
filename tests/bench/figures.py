"""Measured figures and their table."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its subject, name, unit and limit, if it has one."""

    subject: str
    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def bar(self) -> str:
        """Limit as text; empty without one."""
        if self.at_most is not None:
            return f"at most {format_number(self.at_most)}"
        return f"at least {format_number(self.at_least)}" if self.at_least is not None else ""

    @property
    def verdict(self) -> str:
        """Verdict on the limit; empty without one."""
        if not self.bar:
            return ""
        low = self.at_least is not None and self.value < self.at_least
        high = self.at_most is not None and self.value > self.at_most
        return "missed" if low or high else "reached"


def format_table(figures: Sequence[Figure]) -> str:
    """Format figures as lines of aligned columns."""
    rows = [(f.subject, f.name, format_number(f.value), f.unit, f.bar, f.verdict) for f in figures]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(6)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column == 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def format_number(value: float) -> str:
    """Format a number with three or four significant digits and separators for thousands."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
