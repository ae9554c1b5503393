"""Trees held open: calls share one, and each answer names the right one while somebody commits and rebases."""

import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem.answering.search_query import Query
from gitmem.embedding.bundled import BundledEncoder
from gitmem.errors import NotARepository
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.resident.call import Call
from gitmem.resident.open_repository import OpenRepository
from gitmem.resident.open_tree import OpenTree
from gitmem.resident.repositories import OpenRepositories
from gitmem.resident.started_reading import start_reading
from gitmem.resident.watching.state_watcher import StateWatcher
from tests.gitrepo import Repo
from tests.mcp.clients import RawClient
from tests.sample import SIGN, Cli

QUESTIONS = 20
TREE = re.compile(r"\[(?P<name>.+) (?P<commit>[0-9a-f]{7})(?P<more> \+ [^,]+)?, (?P<state>fresh|stale[^\]]*)\]")


class Somebody(threading.Thread):
    """Works in a repository until told to stop."""

    def __init__(self, repo: Repo) -> None:
        super().__init__()
        self.stopped = threading.Event()
        self._repo = repo
        self._number = 0

    def run(self) -> None:
        chance = random.Random(1)
        while not self.stopped.wait(0.05):
            chance.choice([self.commit, self.commit, self.switch, self.rebase])()

    def commit(self) -> None:
        """Change the file that is asked about."""
        self._number += 1
        self._repo.commit({"marker.py": f"def state_marker():\n    return {self._number}\n"})

    def switch(self) -> None:
        """Go to the other branch."""
        here = self._repo.git("branch", "--show-current")
        self._repo.git("checkout", "-q", "side" if here == "main" else "main")

    def rebase(self) -> None:
        """Put the other branch's commits below those of this one, ours where both changed the same."""
        here = self._repo.git("branch", "--show-current")
        self._repo.git("rebase", "-q", "-X", "theirs", "side" if here == "main" else "main")


def heads(repo: Repo) -> list[str]:
    """Everything HEAD has been, the latest first."""
    return repo.git("reflog", "--format=%H", "HEAD").splitlines()


def record(repo: Repo, questions: int) -> list[str]:
    """Ask again and again; returns the last lines of the answers, after each was found to be right."""
    told = []
    somebody = Somebody(repo)
    with RawClient(repo.path) as client:
        client.greet()
        client.call(1, "status")
        somebody.start()
        try:
            for number in range(questions):
                before = heads(repo)
                text = client.call(number + 2, "search", query="state_marker", limit=1, detail="full")
                after = heads(repo)
                told.append(text.splitlines()[-1])
                tree = TREE.fullmatch(told[-1])
                assert tree is not None, text
                between = after[: len(after) - len(before) + 1]
                commit = next((head for head in between if head.startswith(tree["commit"])), None)
                assert commit is not None, (told[-1], between)
                if not tree["more"] and tree["state"] == "fresh":
                    shown = re.search(r"^2     return (\d+)$", text, re.MULTILINE)
                    assert shown is not None, text
                    assert repo.git("show", f"{commit}:marker.py").endswith(f"return {shown[1]}")
        finally:
            somebody.stopped.set()
            somebody.join()
        settled = client.call(questions + 2, "search", query="state_marker", limit=1)
        assert f" {repo.oid('HEAD')[:7]}" in settled.splitlines()[-1]
        assert client.close() == 0
    return told


def prepare(cli: Cli, path: Path, files: int) -> Repo:
    repo = Repo.init(path)
    repo.write({f"src/m{n // 100}/f{n}.py": f"def thing_{n}(value):\n    return value + {n}\n" for n in range(files)})
    repo.commit({"marker.py": "def state_marker():\n    return 0\n"})
    repo.git("branch", "side")
    assert cli("-q", "init", "--no-hooks", "--no-mcp", cwd=path).code == 0
    return repo


def test_what_a_person_has_git_ignore_everywhere_is_heeded_at_once(cli: Cli, tmp_path: Path, home: Path) -> None:
    repo = prepare(cli, tmp_path / "repo", 1)
    repo.write({"generated/walrus.py": "def walrus_plankton():\n    return 1\n"})
    rules = home / ".config" / "git" / "ignore"
    rules.parent.mkdir(parents=True)
    with RawClient(repo.path) as client:
        client.greet()
        assert "generated/walrus.py" in client.call(1, "search", query="walrus_plankton")
        assert "generated/walrus.py" in client.call(2, "search", query="walrus_plankton")
        rules.write_text("generated/\n")
        assert "generated/walrus.py" not in client.call(3, "search", query="walrus_plankton")


def test_an_edit_that_no_word_came_of_is_found_at_the_second_question(cli: Cli, tmp_path: Path) -> None:
    """A folder is told of what happens by its own names alone: a hard link from elsewhere is another name."""
    repo = prepare(cli, tmp_path / "repo", 1)
    repo.write({"walrus.py": "def walrus_plankton():\n    return 1\n"})
    (tmp_path / "other").hardlink_to(repo.path / "walrus.py")
    with RawClient(repo.path) as client:
        client.greet()
        for number in range(3):
            assert "return 1" in client.call(number, "search", query="walrus_plankton")
        (tmp_path / "other").write_text("def walrus_plankton():\n    return 2\n")
        assert "changed while it was read" in client.call(3, "search", query="walrus_plankton")
        assert "return 2" in client.call(4, "search", query="walrus_plankton")


def test_every_answer_names_the_right_tree(cli: Cli, tmp_path: Path) -> None:
    assert len(record(prepare(cli, tmp_path / "repo", 60), QUESTIONS)) == QUESTIONS


@pytest.mark.long
def test_every_answer_of_a_long_session_names_the_right_tree(cli: Cli, tmp_path: Path) -> None:
    told = record(prepare(cli, tmp_path / "repo", 5000), 10 * QUESTIONS)
    assert any(", fresh" in line for line in told)


def test_calls_read_one_tree_side_by_side(indexed: Repo) -> None:
    session = OpenRepository(indexed.path, {}, BundledEncoder(), StateWatcher())
    together = threading.Barrier(3, timeout=300)
    told: list[list[str]] = []

    def read() -> None:
        def use(tree: OpenTree) -> list[str]:
            together.wait()  # passed only if all three are here
            found = [hit.path for hit in tree.searcher.find(Query(SIGN), 5)[1]]
            assert tree.reader.read(indexed.oid("HEAD:src/cookies.py")) is not None
            together.wait()
            return found

        told.append(session.with_tree(WORKING_TREE, (), Call(), use))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session.close(5)
    assert len(told) == 3
    assert told[0] == told[1] == told[2]
    assert "src/cookies.py" in told[0]


def test_a_call_reads_on_from_its_tree_when_another_opens_the_next(own: Repo) -> None:
    session = OpenRepository(own.path, {}, BundledEncoder(), StateWatcher())
    blob = own.oid("HEAD:src/cookies.py")

    def use(tree: OpenTree) -> None:
        own.commit({"src/next.py": "def next_thing():\n    return 1\n"})
        newer = session.with_tree(WORKING_TREE, (), Call(), lambda later: later.searcher)
        assert newer is not tree.searcher
        assert [hit.path for hit in newer.find(Query("next_thing"), 1)[1]] == ["src/next.py"]
        assert tree.reader.read(blob) is not None
        assert all(hit.path != "src/next.py" for hit in tree.searcher.find(Query("next_thing"), 50)[1])

    session.with_tree(WORKING_TREE, (), Call(), use)
    session.close(5)


def test_calls_that_came_before_a_tree_was_read_share_it_and_later_ones_do_not(own: Repo) -> None:
    session = OpenRepository(own.path, {}, BundledEncoder(), StateWatcher())
    early = Call()

    def paths(call: Call) -> list[str]:
        def find(tree: OpenTree) -> list[str]:
            return [hit.path for hit in tree.searcher.find(Query("walrus_plankton"), 5)[1]]

        return session.with_tree(WORKING_TREE, (), call, find)

    assert "src/walrus.py" not in paths(Call())
    own.write({"src/walrus.py": "def walrus_plankton():\n    return 1\n"})
    assert "src/walrus.py" not in paths(early)
    assert "src/walrus.py" in paths(Call())
    assert "src/walrus.py" in paths(early)
    session.close(5)


@pytest.mark.parametrize("is_early", [True, False])
def test_a_reading_that_was_started_is_used_by_calls_that_came_before_it_alone(own: Repo, is_early: bool) -> None:
    early = Call()
    started = start_reading(own.path, {}, WORKING_TREE)
    started.reader.read()
    own.write({"src/walrus.py": "def walrus_plankton():\n    return 1\n"})
    session = OpenRepository(own.path, {}, BundledEncoder(), StateWatcher(), started)
    call = early if is_early else Call()
    searcher = session.with_tree(WORKING_TREE, (), call, lambda tree: tree.searcher)
    assert (b"src/walrus.py" in searcher.changes) != is_early
    later = session.with_tree(WORKING_TREE, (), Call(), lambda tree: tree.searcher)
    assert b"src/walrus.py" in later.changes
    session.close(5)


def test_a_change_after_a_reading_started_makes_its_tree_stale(own: Repo) -> None:
    repositories = OpenRepositories(own.path, {})
    early = Call()
    repositories.start_reading_own()
    own.commit({"src/walrus.py": "def walrus_plankton():\n    return 1\n"})
    session = repositories.get(own.path)
    session.with_tree(WORKING_TREE, (), early, lambda _tree: None)
    found = session.with_tree(
        WORKING_TREE, (), Call(), lambda tree: (tree.searcher.tree.revision.commit, len(tree.searcher.changes))
    )
    assert found == (own.oid("HEAD"), 0)
    repositories.close(5)


def test_a_check_that_finds_a_change_makes_the_next_call_open_the_tree_again(own: Repo) -> None:
    """The check clears the record of the change, and its caller may be one that opens no tree."""
    session = OpenRepository(own.path, {}, BundledEncoder(), StateWatcher())

    def find(tree: OpenTree) -> list[str]:
        return [hit.path for hit in tree.searcher.find(Query("walrus_plankton"), 5)[1]]

    for number in range(20):
        session.with_tree(WORKING_TREE, (), Call(), find)
        own.write({f"src/walrus_{number}.py": f"def walrus_plankton():\n    return {number}\n"})
        assert session.with_current_tree(WORKING_TREE, Call(), find) is None
        paths = session.with_tree(WORKING_TREE, (), Call(), lambda tree: tree.searcher.view.paths)
        assert f"src/walrus_{number}.py".encode() in paths
    session.close(5)


def test_a_reading_of_no_repository_is_not_started(tmp_path: Path) -> None:
    repositories = OpenRepositories(tmp_path, {})
    repositories.start_reading_own()
    with pytest.raises(NotARepository):
        repositories.get(tmp_path)
    repositories.close(5)


def test_watching_starts_after_the_last_call_that_runs(own: Repo) -> None:
    session = OpenRepository(own.path, {}, BundledEncoder(), StateWatcher())
    before = set(threading.enumerate())

    def watching(_tree: OpenTree) -> list[str]:
        return [thread.name for thread in set(threading.enumerate()) - before if thread.name == "watch"]

    def nested(tree: OpenTree) -> list[list[str]]:
        return [session.with_tree(WORKING_TREE, (), Call(), watching), watching(tree)]

    assert session.with_tree(WORKING_TREE, (), Call(), nested) == [[], []]
    session.close(5)


def test_answers_asked_for_side_by_side_are_those_asked_for_one_by_one(indexed: Repo) -> None:
    session = OpenRepository(indexed.path, {}, BundledEncoder(), StateWatcher())
    questions = [SIGN, "route", "backup the database", "parse the header", "rotate the key", "Router.addRoute"] * 4

    def ask(question: str) -> list[tuple[str, float, bytes | None]]:
        def use(tree: OpenTree) -> list[tuple[str, float, bytes | None]]:
            hits = tree.searcher.find(Query(question), 5)[1]
            return [(hit.path, hit.score, tree.reader.read(hit.blob)) for hit in hits]

        return session.with_tree(WORKING_TREE, (), Call(), use)

    expected = [ask(question) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, questions)) == expected
    session.close(5)
