"""A team that shares an index: a bare remote, and the clone of somebody who has indexed it."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gitmem.store.rows import Rows
from gitmem.workspace import Workspace
from tests.gitrepo import Repo
from tests.indexes import index, python_file, snapshot_of, workspace_of

FILES: Mapping[str, str | bytes] = {
    "src/cookies.py": python_file("sign_cookie", "load_cookie"),
    "src/routes.py": python_file("match_route"),
    "docs/guide.md": "# Guide\n\n## Backups\n\nCopy the database every night.\n",
    "logo.png": b"\x89PNG\0",
}


class Team(NamedTuple):
    """A bare remote, and the clone of somebody who has indexed it."""

    remote: Repo
    ann: Repo

    def clone(self, name: str) -> Repo:
        """Clone the remote for somebody else."""
        return clone_of(self.remote, name)

    def ann_workspace(self) -> Workspace:
        return workspace_of(self.ann)


def clone_of(remote: Repo, name: str) -> Repo:
    path = remote.path.with_name(name)
    remote.git("clone", "--quiet", remote.path.as_uri(), str(path))
    return Repo(path)


def make_team(tmp_path: Path) -> Team:
    """Make a remote with one commit, and a clone that has indexed it."""
    remote = Repo.init(tmp_path / "remote", "--bare")
    ann = clone_of(remote, "ann")
    ann.git("checkout", "--quiet", "-b", "main")
    ann.commit(FILES)
    ann.git("push", "--quiet", "-u", "origin", "main")
    index(ann)
    return Team(remote, ann)


def read_rows(team: Team) -> Rows:
    """Return all rows of the first clone."""
    (segment,) = snapshot_of(team.ann).segments
    return segment.load_rows()
