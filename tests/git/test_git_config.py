"""Settings in git's configuration, and the files it consists of."""

from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.git_config import ConfigEntry, configuration_files, read_config
from gitmem.git.locate import locate
from tests.gitrepo import MakeRepo


def test_all_scopes_are_listed_in_the_order_git_applies_them(
    make_repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo()
    repo.commit({"a": "x"})
    (tmp_path / "config").write_text("[gitmem]\n\tgraphThreshold = 1\n[other]\n\tkey = 1\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    repo.git("config", "GitMem.graphThreshold", "2")
    repo.git("config", "--add", "gitmem.exclude", "two\nlines = here")
    repo.git("config", "--add", "gitmem.exclude", "")
    _append(repo.path / ".git" / "config", "[gitmem]\n\tflag\n")
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    (repo.path / ".git" / "worktrees" / "linked" / "config.worktree").write_text("[gitmem]\n\tgraphThreshold = 3\n")
    common = [
        ConfigEntry("gitmem.graphthreshold", "1", "global"),
        ConfigEntry("gitmem.graphthreshold", "2", "local"),
        ConfigEntry("gitmem.exclude", "two\nlines = here", "local"),
        ConfigEntry("gitmem.exclude", "", "local"),
        ConfigEntry("gitmem.flag", None, "local"),
    ]
    assert read_config(locate(repo.path)) == common
    linked = ConfigEntry("gitmem.graphthreshold", "3", "worktree")
    assert read_config(locate(tmp_path / "linked")) == [*common, linked]


def test_without_settings_the_list_is_empty(
    make_repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "empty"))
    assert read_config(locate(make_repo().path)) == []


def test_a_broken_configuration_is_an_error(make_repo: MakeRepo) -> None:
    repo = make_repo()
    location = locate(repo.path)
    _append(repo.path / ".git" / "config", "[gitmem\n")
    with pytest.raises(GitFailed, match="bad config line"):
        read_config(location)


def _append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


def test_configuration_files_are_found_even_without_a_home(
    make_repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo()
    (tmp_path / "shared").write_text("[user]\n\tname = x\n")
    repo.git("config", "include.path", str(tmp_path / "shared"))
    repo.git("config", "core.excludesFile", str(tmp_path / "rules"))
    location = locate(repo.path)
    files = configuration_files(location, {"HOME": str(tmp_path / "home")})
    assert {tmp_path / "shared", tmp_path / "rules", tmp_path / "home/.config/git/ignore"} <= set(files)
    assert location.common_dir / "info" / "exclude" in files
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # a user without a name
    assert tmp_path / "rules" in configuration_files(location, {})
