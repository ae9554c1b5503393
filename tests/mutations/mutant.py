"""One mutant: a small fault in one file, and the tests that must notice it."""

import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = Path(__file__).parent / "catalogue"


class Mutant(NamedTuple):
    """Fault in a file: `text`, which occurs exactly once, becomes `replacement`. `tests` are arguments of pytest.

    `survives` is the reason why no test can notice it. Such a mutant is run nonetheless, and counts as not caught.
    """

    file: str
    text: str
    replacement: str
    tests: str
    survives: str = ""

    def find_problem(self, root: Path = ROOT) -> str:
        """Return why this mutant cannot be made, "" if it can: the text must occur exactly once."""
        path = root / self.file
        if not path.is_file():
            return f"{self.file} does not exist"
        found = path.read_text().count(self.text)
        if found != 1:
            return f"{self.file}: the text occurs {found} times, expected once: {self.text!r}"
        if self.text == self.replacement:
            return f"{self.file}: the replacement is the text itself: {self.text!r}"
        missing = [name for name in self.tests.split() if not (root / name.partition("::")[0]).exists()]
        return f"{self.file}: no such test: {missing[0]}" if missing else ""

    def apply(self, root: Path) -> None:
        """Write the fault into a copy of the tree."""
        path = root / self.file
        path.write_text(path.read_text().replace(self.text, self.replacement))


def load_mutants() -> list[Mutant]:
    """Return all mutants of the catalogue, which has a file for each package."""
    return [
        Mutant(**fields)
        for file in sorted(CATALOGUE.glob("*.toml"))
        for fields in tomllib.loads(file.read_text())["mutant"]
    ]
