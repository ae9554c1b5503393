"""The benchmark of hints for bisections: the commit to find, and the range that contains it."""

from tests.bench.bisect_hints import Range, Ranked, choose_range, find_culprit, summarise
from tests.bench.issues import Task
from tests.gitrepo import Repo


def make_task(repo: Repo, first: int, last: int) -> Task:
    return Task("one", "a/b", repo.oid("HEAD"), "it fails", ("a.py",), {"a.py": [(first, last)]})


def test_the_range_contains_the_newest_commit_of_the_changed_lines(repo: Repo) -> None:
    lines = ["one", "two", "three"]
    for number, change in enumerate(("ONE", "TWO")):
        lines[number] = change
        repo.commit({"a.py": "\n".join(lines) + "\n"}, change)
    for number in range(4):
        repo.commit({"b.py": f"{number}\n"}, str(number))
    assert find_culprit(repo.path, make_task(repo, 1, 1)) == repo.oid("HEAD~5")
    assert find_culprit(repo.path, make_task(repo, 1, 2)) == repo.oid("HEAD~4")
    task = make_task(repo, 1, 2)
    assert choose_range(repo.path, task, 6) == Range(repo.oid("HEAD~6"), repo.oid("HEAD"), repo.oid("HEAD~4"))
    chosen = choose_range(repo.path, task, 2)
    assert chosen is not None
    assert chosen.culprit in repo.git("rev-list", f"{chosen.good}..{chosen.bad}").split()


def test_lines_of_the_first_commit_are_in_no_range(repo: Repo) -> None:
    repo.commit({"b.py": "x\n"}, "last")
    assert choose_range(repo.path, make_task(repo, 1, 1), 9) is None


def test_the_shares_are_those_of_the_issues() -> None:
    ranked = [Ranked("a", 500, {"gitmem": 1, "by date": 11}, 1.0), Ranked("b", 500, {"gitmem": 7, "by date": 2}, 3.0)]
    figures = {(figure.subject, figure.name): figure.value for figure in summarise(ranked)}
    assert figures["gitmem", "in the first 5"] == 0.5
    assert figures["by date", "in the first 10"] == 0.5
    assert figures["gitmem", "mean reciprocal rank"] == (1 + 1 / 7) / 2
    assert figures["all", "CPU per hint, mean"] == 2.0
