"""The benchmark of definitions counts units that are no definitions of names."""

from gitmem.chunking.chunk import chunk_blob
from gitmem.types import NO_NAMES
from tests.bench.definitions import defined_names, symbols_of


def test_units_are_compared_with_the_names_of_the_same_file() -> None:
    blob = chunk_blob(b"class Job:\n    def run(self):\n        return 1\n", "python")
    assert symbols_of(blob) == ["Job", "Job.run"]
    assert defined_names(blob) == {"Job", "run"}
    assert defined_names(blob._replace(names=NO_NAMES)) == set()
