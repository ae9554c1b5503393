"""Index of patterns: the same matches as comparing a path with every pattern."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.patterns.pattern_table import GlobTable
from gitmem.patterns.wildmatch import parse_ignore_line
from tests.patterns.samples import paths, patterns


@settings(max_examples=200, deadline=None)
@given(lines=st.lists(patterns, max_size=8), path=paths, folder=st.booleans())
def test_a_table_finds_the_patterns_that_match_one_by_one(lines: list[str], path: str, folder: bool) -> None:
    globs = [parse_ignore_line(line.encode()) for line in lines]
    target = path.encode()
    name = target.rpartition(b"/")[2]
    expected = [
        number
        for number, glob in enumerate(globs)
        if glob is not None and glob.match(name if glob.name_only else target) and (folder or not glob.folders_only)
    ]
    assert GlobTable(globs).matching(target, name, folder=folder) == expected
