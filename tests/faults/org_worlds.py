"""A published repository whose head moves between two commits, and what must hold after any fault."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gitmem.cli.main import run as run_gitmem
from gitmem.errors import DatabaseFailed
from gitmem.org.candidate_blobs import find_heads, match_words, read_paths
from gitmem.org.connection import open_database
from gitmem.org.head_publication import publish_head, release_blobs
from gitmem.org.migrations import migrate
from gitmem.words import terms_of
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo
from tests.org.clusters import Cluster, running

NAME: Final = "shop"
KEPT: Final = "kept"
"""Repository that is published once, and must never change."""

DATABASE: Final = "faults"
WORDS: Final = ("keep", "refund", "invoice")
"""Words of the commits: of the one that is kept, and of the two others."""


class World:
    """Database with the heads of `shop`, at one of two commits, and of `kept`."""

    def __init__(self, cluster: Cluster, repo: Repo, commits: Sequence[str], workspace: Workspace) -> None:
        self.cluster = cluster
        self.workspace = workspace
        self.files = {commit: _files(repo, commit) for commit in commits}
        self.current = commits[1]
        self.words = dict(zip(commits, WORDS, strict=True))
        self.problem = ""

    @property
    def other(self) -> str:
        """Return the commit that is not published."""
        return next(commit for commit in [*self.files][1:] if commit != self.current)

    def publish(self, dsn: str, commit: str, name: str = NAME) -> None:
        """Publish a commit, as `gitmem org publish` does. Raises DatabaseFailed."""
        with open_database(dsn) as database:
            publish_head(self.workspace, database, name, commit, "main", is_default=False)

    def try_publish(self, dsn: str, commit: str) -> bool:
        """Publish a commit; return whether that was acknowledged."""
        try:
            self.publish(dsn, commit)
        except DatabaseFailed as problem:
            self.problem = problem.message
            return False
        return True

    def faults(self, dsn: str, *, acknowledged: bool, target: str) -> list[str]:
        """Return what is wrong now, and what a next publication of the target leaves wrong."""
        with open_database(dsn) as database:
            commit, faults = self._look(database)
        if commit != target and (acknowledged or commit != self.current):
            faults.append(f"head at {commit}")
        if not self.try_publish(dsn, target):
            faults.append("the next publication fails")
        with open_database(dsn) as database:
            commit, found = self._look(database)
            # A killed publisher may leave blobs; the next case must upload them again.
            release_blobs(database, wait=True)
        faults += [f"after the next publication: {each}" for each in found]
        faults += [f"the next publication leaves {commit}"] if commit != target else []
        self.current = target
        return faults

    def _look(self, database: Any) -> tuple[str, list[str]]:
        """Return the commit of the head, and whether both heads are incomplete."""
        faults = []
        commits = {}
        for name in (NAME, KEPT):
            row = database.execute(
                "SELECT heads.id, commit, files FROM gitmem.heads JOIN gitmem.repositories ON repository ="
                " repositories.id WHERE name = %s", (name,)
            ).fetchone()  # fmt: skip
            if row is None:
                return "", [f"no head of {name}"]
            head, commits[name], files = row
            entries = database.execute(
                "SELECT path, oid FROM gitmem.entries JOIN gitmem.blobs ON blobs.id = blob"
                " JOIN gitmem.signatures ON signatures.blob = blobs.id WHERE head = %s", (head,)
            ).fetchall()  # fmt: skip
            present = {bytes(path).decode(): bytes(oid).hex() for path, oid in entries}
            if present != self.files.get(commits[name]) or files != len(present):
                faults.append(f"head of {name} is not the tree of {commits[name]}")
        faults += self._look_for_words(database, commits[NAME])
        return commits[NAME], faults

    def _look_for_words(self, database: Any, commit: str) -> list[str]:
        """Return what is wrong with the words by which the head is found."""
        heads = find_heads(database, [NAME], "")
        blobs = match_words(database, heads, list(terms_of(self.words[commit])), None, None).blobs
        paths = {each.path.decode() for each in read_paths(database, [head.head for head in heads], blobs)}
        expected = {f"{self.words[commit]}.py", "part.py"}
        return [] if paths == expected else [f"the word of {commit} is found in {sorted(paths)}"]


def _files(repo: Repo, commit: str) -> dict[str, str]:
    lines = repo.git("ls-tree", "-r", commit).splitlines()
    return {line.split("\t")[1]: line.split("\t")[0].split()[2] for line in lines}


def make_world(cluster: Cluster, folder: Path, lines: int = 2, tablespace: str = "") -> World:
    """Make a repository of three indexed commits; publish the first one as `kept`, and the second one as `shop`."""
    repo = Repo.init(folder / "repo")
    commits = []
    for word in WORDS:
        text = "\n".join(f"def {word}_{number}():\n    return {number}\n" for number in range(lines))
        repo.commit(
            {f"{word}.py": text, "both.py": "def shared():\n    return 1\n", "part.py": f"def {word}(): pass\n"}
        )
        commits.append(repo.git("rev-parse", "HEAD"))
        repo.git("rm", "-q", f"{word}.py")
    repo.git("reset", "-q", "--hard")
    assert run_gitmem(["-q", "-C", str(repo.path), "init", "--no-hooks", "--no-mcp"]) == 0
    with cluster.connect() as database:
        database.execute(f"CREATE DATABASE {DATABASE} {tablespace}")
    dsn = cluster.dsn(DATABASE)
    with open_database(dsn) as database:
        migrate(database)
    world = World(cluster, repo, commits, open_workspace(repo.path, {}))
    for name, commit in zip((KEPT, NAME), commits, strict=False):
        world.publish(dsn, commit, name)
    return world


@contextmanager
def world_of_faults(lines: int = 2) -> Iterator[World]:
    """Run a server with such a repository."""
    with running() as cluster, tempfile.TemporaryDirectory() as folder:
        yield make_world(cluster, Path(folder), lines)
