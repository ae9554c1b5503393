"""Files of an index are private again after `init` and `gc`, whatever a backup or the user made of them."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.actions.doctor import OK, WARN, examine_repository
from gitmem.actions.gc import collect
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of
from tests.sample import Cli

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs permissions of POSIX")


def init(cli: Cli, repo: Repo) -> None:
    assert cli("init", "--no-hooks", "--no-mcp", cwd=repo.path).code == 0


def gc(_cli: Cli, repo: Repo) -> None:
    collect(workspace_of(repo))


def modes(folder: Path) -> set[tuple[bool, int]]:
    """Return which permissions folders (True) and files have."""
    paths = [folder, *folder.rglob("*")]
    return {(path.is_dir(), stat.S_IMODE(path.lstat().st_mode)) for path in paths if not path.is_symlink()}


@pytest.mark.usefixtures("fake_model")
@pytest.mark.parametrize("restore", [init, gc])
def test_a_restored_backup_becomes_private_again(
    cli: Cli, repo: Repo, tmp_path: Path, restore: Callable[[Cli, Repo], None]
) -> None:
    repo.commit({"a.py": "def load():\n    return 1\n"})
    index(repo)
    root = repo.path / ".gitmem"
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    root.chmod(0o700)
    foreign = tmp_path / "foreign"
    foreign.write_text("of the user\n")
    foreign.chmod(0o644)
    (root / "state" / "link").symlink_to(foreign)

    def check() -> tuple[str, str]:
        return next((each.state, each.remedy) for each in examine_repository(repo.path, {}) if each.name == "index")

    assert check() == (WARN, "gitmem gc")
    restore(cli, repo)
    assert modes(root) == {(True, 0o700), (False, 0o600)}
    assert check() == (OK, "")
    assert stat.S_IMODE(foreign.stat().st_mode) == 0o644
