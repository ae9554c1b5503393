"""`.gitmem.toml` and the user's own rules: they narrow what is indexed, and do nothing else."""

from collections import Counter
from typing import Any

import pytest

from gitmem.content_rules import ContentRules, parse_team_file
from gitmem.errors import ConfigError
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of

pytestmark = pytest.mark.usefixtures("fake_model")

FILES: dict[str, str | bytes] = {
    "src/app.py": "def start_application():\n    return 1\n",
    "src/app.ts": "export function startPage() { return 1 }\n",
    "docs/guide.md": "# Guide\n\nStart it.\n",
    "old/app.py": "def start_old():\n    return 1\n",
}


def indexed_paths(repo: Repo, **options: Any) -> set[str]:
    return {hit.path for hit, _ in search(repo, "start", limit=50, **options).hits}


def test_the_committed_file_narrows_what_is_indexed(repo: Repo) -> None:
    repo.commit({**FILES, ".gitmem.toml": 'exclude = ["old/"]\nlanguages = ["py", "markdown"]\n'})
    report = index(repo)
    # `.gitmem.toml` and `app.ts` are of other languages.
    assert report.skipped == Counter(excluded=3)
    assert indexed_paths(repo) == {"src/app.py", "docs/guide.md"}


def test_each_revision_is_searched_by_its_own_rules(repo: Repo) -> None:
    repo.commit(FILES)
    index(repo)
    repo.commit({".gitmem.toml": 'include = ["/docs"]\n'})
    index(repo)
    assert indexed_paths(repo) == {"docs/guide.md"}
    assert indexed_paths(repo, rev="HEAD~") > {"src/app.py", "old/app.py"}


def test_an_uncommitted_change_of_the_file_counts_at_once(repo: Repo) -> None:
    repo.commit(FILES)
    index(repo)
    repo.write({".gitmem.toml": 'exclude = ["*.py"]\n'})
    assert indexed_paths(repo) == {"src/app.ts", "docs/guide.md"}
    (repo.path / ".gitmem.toml").unlink()
    assert "src/app.py" in indexed_paths(repo)


def test_the_file_cannot_include_what_is_left_out_anyway(repo: Repo) -> None:
    repo.commit({"node_modules/a.js": "start()\n", "b.py": "start = 1\n", ".gitmem.toml": 'include = ["*", "!b.py"]\n'})
    assert index(repo).skipped == Counter(vendored=1, excluded=1)


def test_a_file_in_a_subfolder_means_nothing(repo: Repo) -> None:
    repo.commit({**FILES, "src/.gitmem.toml": 'exclude = ["*"]\n'})
    assert not index(repo).skipped


def test_the_users_own_rules_give_a_view_of_their_own_and_embed_nothing_again(repo: Repo) -> None:
    repo.commit(FILES)
    index(repo)
    repo.git("config", "gitmem.exclude", "old/, *.ts")
    report = index(repo)
    assert (report.skipped, report.embedded, report.rebuilt) == (Counter(excluded=2), 0, "")
    assert indexed_paths(repo) == {"src/app.py", "docs/guide.md"}
    repo.git("config", "--unset", "gitmem.exclude")
    assert "old/app.py" in indexed_paths(repo)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("exclude = [", "not valid TOML", "remove it"),
        (b"exclude = ['\xff']", "not valid TOML", "remove it"),
        ("exclud = ['a']", "unknown key `exclud`", "did you mean `exclude`?"),
        ("provider = 'openai'", "unknown key `provider`", "may only narrow"),
        ("exclude = 'a'", "not a list of texts", 'exclude = ["docs/"]'),
        ("exclude = [1]", "not a list of texts", "for example"),
        ("languages = ['pyhton']", "unknown language `pyhton`", "did you mean `python`?"),
    ],
)
def test_an_invalid_file_ends_a_command_before_anything_is_written(
    repo: Repo, text: str | bytes, problem: str, hint: str
) -> None:
    repo.write({".gitmem.toml": text})
    with pytest.raises(ConfigError, match=problem) as refusal:
        index(repo)
    assert hint in refusal.value.hint
    assert str(repo.path) in refusal.value.message
    assert not (repo.path / ".gitmem").exists()


def test_an_invalid_file_of_an_old_revision_counts_as_none(repo: Repo) -> None:
    repo.commit({**FILES, ".gitmem.toml": "exclude = ["})
    repo.commit({".gitmem.toml": "exclude = ['docs/']"})
    index(repo)
    assert "docs/guide.md" in indexed_paths(repo, rev="HEAD~")


def test_rules_are_parsed_and_have_a_key() -> None:
    rules = parse_team_file(b'include = [" a "]\nexclude = ["b"]\n')
    assert rules == ContentRules(("a",), ("b",))
    assert rules.key
    assert not parse_team_file(b"").key


def test_smaller_chunks_rebuild_the_index(repo: Repo) -> None:
    repo.commit({"long.txt": "\n".join(f"sentence number {number} of the text" for number in range(200))})
    before = index(repo).chunks
    repo.git("config", "gitmem.chunkMaxBytes", "400")
    report = index(repo)
    assert report.rebuilt
    assert report.chunks > 2 * before
    assert workspace_of(repo).settings.chunk_max_bytes == 400
