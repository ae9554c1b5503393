"""Measured figures and their table."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its subject, name, unit and limit, if it has one. The value is None if it cannot be measured."""

    subject: str
    name: str
    value: float | None
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
    def text(self) -> str:
        """Value as text."""
        return "absent" if self.value is None else format_number(self.value)

    @property
    def verdict(self) -> str:
        """Verdict on the limit; empty without one."""
        if not self.bar or self.value is None:
            return ""
        low = self.at_least is not None and self.value < self.at_least
        high = self.at_most is not None and self.value > self.at_most
        return "missed" if low or high else "reached"


def format_table(figures: Sequence[Figure]) -> str:
    """Format figures as lines of aligned columns."""
    return _align([[f.subject, f.name, f.text, f.unit, f.bar, f.verdict] for f in figures], numbers=range(2, 3))


def format_columns(figures: Sequence[Figure]) -> str:
    """Format figures as a table with a column for each subject and a line for each name and unit."""
    subjects = list(dict.fromkeys(figure.subject for figure in figures))
    lines: dict[tuple[str, str], dict[str, Figure]] = {}
    for figure in figures:
        lines.setdefault((figure.name, figure.unit), {})[figure.subject] = figure
    rows = [["", *subjects, "", ""]]
    for (name, unit), line in lines.items():
        cells = [line[subject].text if subject in line else "" for subject in subjects]
        rows.append([name, *cells, unit, next(figure.bar for figure in line.values())])
    return _align(rows, numbers=range(1, 1 + len(subjects)))


def _align(rows: Sequence[Sequence[str]], numbers: range) -> str:
    """Join cells to lines of aligned columns; the columns of numbers are aligned at the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numbers else cell.ljust(width)
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
