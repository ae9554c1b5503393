"""Accuracies of issue localisation equal values computed by hand."""

from tests.bench.issues import AnsweredTask, Task, has_files, has_ranges
from tests.bench.scoring import Place


def answered(*places: tuple[str, int, int]) -> AnsweredTask:
    task = Task("one", "o/r", "0" * 40, "text", ("a.py", "b.py"), {"a.py": [(5, 5)], "b.py": [(1, 2), (30, 40)]})
    return AnsweredTask(task, [Place(*place) for place in places], 0.1)


def test_all_changed_files_must_be_among_the_first_different_ones() -> None:
    one = answered(("a.py", 1, 9), ("a.py", 20, 30), ("c.py", 1, 2), ("b.py", 1, 2))
    assert not has_files(one, 2)
    assert has_files(one, 3)
    assert not has_files(answered(("a.py", 1, 9)), 10)


def test_each_changed_range_must_be_touched() -> None:
    one = answered(("a.py", 5, 9), ("b.py", 2, 3), ("b.py", 40, 50))
    assert has_ranges(one, 3)
    assert not has_ranges(one, 2)
    assert not has_ranges(answered(("a.py", 6, 9), ("b.py", 1, 50)), 10)
