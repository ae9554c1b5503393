"""A place that refers to a definition, and the bounds within which such places are looked for."""

from collections.abc import Iterable
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.references.file_names import Definition
from gitmem.types import OCCURRENCE_KINDS

MAX_FILES: Final = 2_000
"""Files that are read for one query. A name in more of them (`get`) cannot be resolved in a moment."""

MAX_REFERENCES: Final = 20_000
"""References that are resolved for one query; the files after them are left out."""

MAX_IN_FILE: Final = 2_000
"""References that are resolved in one file: a generated one has more than all others together."""


class Usage(NamedTuple):
    """Line that refers to a definition, or a definition itself. `symbol` is the function or class around the line.

    `rule` says how it was resolved and `candidates` to how many definitions; both are empty for a definition. `open`
    says that it may also mean something outside of the tree. `depth` counts the steps from the definition. `target` is
    the definition that is meant, if it is the only one, and `through` one that the definition asked for overrides.
    """

    entry: int
    line: int
    kind: str
    symbol: str
    rule: str = ""
    candidates: int = 0
    open: bool = False
    depth: int = 1
    target: Definition | None = None
    through: Definition | None = None

    @property
    def certainty(self) -> tuple[int, bool, bool]:
        """Order of usages of one line, the surest first."""
        return self.candidates, self.open, self.through is not None


class Bounds(NamedTuple):
    """Files that are read for one query, and references that are resolved in them."""

    files: int = MAX_FILES
    references: int = MAX_REFERENCES


DEFAULT_BOUNDS: Final = Bounds()


def usage_of(definition: Definition) -> Usage:
    """Return a definition as a place of its own."""
    return Usage(definition.entry, definition.line, OCCURRENCE_KINDS[definition.kind], definition.symbol, depth=0)


def unique_lines(usages: Iterable[Usage]) -> list[Usage]:
    """Return one usage of each line, the surest."""
    best: dict[tuple[int, int], Usage] = {}
    for usage in usages:
        place = usage.entry, usage.line
        if place not in best or usage.certainty < best[place].certainty:
            best[place] = usage
    return list(best.values())
