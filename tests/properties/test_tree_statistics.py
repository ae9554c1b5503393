"""Statistics of a working tree with any files: they equal the sums over its files, counted from the rows."""

import shutil
from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.answering.index_status import UP_TO_DATE, read_status
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.indexes import dump_rows, index, python_file, snapshot_of, workspace_of

CONTENTS = (
    python_file("one"),
    python_file(*(f"function_{number}" for number in range(40))),
    "# Title\n\nText.\n\n" + "".join(f"## Part {part}\n\n{'Words of it. ' * 40}\n\n" for part in range(9)),
)
LANGUAGES = {"py": "python", "md": "markdown", "rb": "ruby"}


class Indexed(NamedTuple):
    """Repository whose index has each content in each language, and the rows of a content by language."""

    repo: Repo
    workspace: Workspace
    rows: Counter[tuple[str, str]]
    oids: list[str]


@pytest.fixture
def indexed_contents(repo: Repo, fake_model: object) -> Indexed:
    """Index every content under a name of every language."""
    names = [(f"all/{number}.{ending}", text) for number, text in enumerate(CONTENTS) for ending in LANGUAGES]
    repo.commit(dict(names))
    repo.git("rm", "--quiet", "-r", "a.py")
    repo.git("commit", "--quiet", "-m", "less")
    index(repo)
    oids = [repo.git("rev-parse", f"HEAD:all/{number}.py") for number in range(len(CONTENTS))]
    rows = Counter((row.blob, row.requested_language) for row in dump_rows(snapshot_of(repo)))
    shutil.rmtree(repo.path / "all")
    return Indexed(repo, workspace_of(repo), rows, oids)


files = st.dictionaries(
    st.tuples(st.from_regex(r"[a-z]{1,3}(/[a-z]{1,3})?", fullmatch=True), st.sampled_from(sorted(LANGUAGES))),
    st.integers(0, len(CONTENTS) - 1),
    max_size=8,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=files)
def test_statistics_are_the_sums_over_the_files(indexed_contents: Indexed, drawn: dict[tuple[str, str], int]) -> None:
    """Property 4: Statistics accuracy."""
    repo, workspace, rows, oids = indexed_contents
    folder = repo.path / "drawn"
    shutil.rmtree(folder, ignore_errors=True)
    for (name, ending), number in drawn.items():
        file = folder / f"{name}.{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CONTENTS[number])
    status = read_status(workspace)
    files_of = Counter(LANGUAGES[ending] for _, ending in drawn)
    chunks_of: Counter[str] = Counter()
    # Equal files share their chunks.
    for ending, number in {(ending, number) for (_, ending), number in drawn.items()}:
        chunks_of[LANGUAGES[ending]] += rows[oids[number], LANGUAGES[ending]]
    assert (status.state, status.files, status.indexed) == (UP_TO_DATE, len(drawn), len(drawn))
    assert (status.languages, status.language_chunks) == (files_of, chunks_of)
    assert status.chunks == sum(chunks_of.values()) == sum(status.chunk_types.values())
    assert status.chunks_total == sum(rows.values())
