"""Repositories in the moment before something happens to them, and what then happens."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.actions.gc import collect
from gitmem.freshness.compaction import compact_in_background
from gitmem.freshness.refresh import RefreshSettings, refresh
from tests.faults.oracle import FAN
from tests.gitrepo import Repo
from tests.indexes import index, python_file, search, workspace_of

COMPACT: Final = "compact"
"""Word for the driver: merge segments as the background process does, which has no command of its own."""


class Scenario(NamedTuple):
    """`prepare` makes the repository; `command` is what is interrupted, `act` the same within this process.

    `acknowledged` are revisions that were indexed before and must stay so at every moment.
    """

    name: str
    prepare: Callable[[Repo], None]
    command: tuple[str, ...]
    act: Callable[[Repo], object]
    acknowledged: tuple[str, ...] = ()

    @property
    def acknowledges(self) -> bool:
        """Whether HEAD is wholly indexed when it says that it is done; a question promises no such thing."""
        return self.command[0] in ("init", "index")


def fill(repo: Repo, folder: str, files: int) -> None:
    """Commit some files, each with two functions of its own."""
    names = {f"{folder}/part{n}.py": python_file(f"{folder}_load_{n}", f"{folder}_save_{n}") for n in range(files)}
    repo.commit(names, message=f"add {folder}")


def _fresh(repo: Repo) -> None:
    fill(repo, "base", 14)
    repo.commit({"notes.md": "# Notes\n\nCookies are signed.\n", "logo.png": b"\x89PNG\0\0", "empty.py": ""})


def _behind(repo: Repo) -> None:
    _fresh(repo)
    repo.git("tag", "first")
    index(repo)
    fill(repo, "more", 14)


def _indexed(repo: Repo) -> None:
    _behind(repo)
    index(repo)


def _split(repo: Repo) -> None:
    """Two branches, both indexed, and a commit on the first that only gives a file another name."""
    _indexed(repo)
    repo.git("checkout", "--quiet", "-b", "side", "first")
    repo.commit({"base/part0.py": python_file("renamed_load")})
    repo.git("mv", "base/part1.py", "base/moved.py")
    repo.commit()
    index(repo)
    repo.git("checkout", "--quiet", "main")
    repo.git("mv", "base/part2.py", "elsewhere.py")
    repo.commit()


def _dropped(repo: Repo) -> None:
    """A branch with files of its own is indexed and deleted without a trace."""
    _split(repo)
    index(repo)
    repo.git("branch", "--quiet", "-D", "side")
    repo.git("reflog", "expire", "--expire=all", "--all")


def _damaged(repo: Repo) -> None:
    """A segment of the index has a wrong byte."""
    _behind(repo)
    file = sorted((repo.path / ".gitmem" / "segments").iterdir())[0]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _index(repo: Repo) -> object:
    return index(repo)


def _index_full(repo: Repo) -> object:
    return index(repo, full=True)


def _query(repo: Repo) -> object:
    return search(repo, "more load")


def _query_old(repo: Repo) -> object:
    return search(repo, "base load", rev="first~1")


def _collect(repo: Repo) -> object:
    return collect(workspace_of(repo), now=True)


def _repair(repo: Repo) -> object:
    workspace = workspace_of(repo)
    return refresh(workspace, workspace.location.head_tree, RefreshSettings(check=True))


def _tiered(repo: Repo) -> None:
    """As many small segments as make one of the next tier, too many rows for the run that writes the last one."""
    for number in range(FAN):
        fill(repo, f"part{number}", 3)
        index(repo)


def _compact(repo: Repo) -> object:
    return compact_in_background(workspace_of(repo))


SCENARIOS = (
    Scenario("first index", _fresh, ("init", "--no-mcp"), _index),
    Scenario("new files", _behind, ("index",), _index, ("first",)),
    Scenario("refresh by a question", _behind, ("query", "more load"), _query, ("first",)),
    Scenario("everything anew", _indexed, ("index", "--full"), _index_full, ("main",)),
    Scenario("view switch", _split, ("index",), _index, ("first", "side", "main~1")),
    Scenario("an old revision", _split, ("query", "--rev", "first~1", "base load"), _query_old, ("side", "main~1")),
    Scenario("collection", _dropped, ("gc", "--now"), _collect, ("first", "main")),
    Scenario("background merge", _tiered, (COMPACT,), _compact, ("main", "main~1")),
    Scenario("repair", _damaged, ("verify", "--repair"), _repair),
)


def chosen(scenarios: Iterable[Scenario], only: str) -> list[Scenario]:
    """Return the scenarios with a name, or all of them for the empty name."""
    return [scenario for scenario in scenarios if only in ("", scenario.name)]


def make(scenario: Scenario, folder: Path) -> Repo:
    """The repository of a scenario, in its moment."""
    repo = Repo.init(folder)
    repo.git("config", "gitmem.healBudget", "60000")  # however slow the machine, a question makes the same calls
    scenario.prepare(repo)
    return repo
