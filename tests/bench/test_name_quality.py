"""Which names of classes are searched, and how a result is scored."""

from tests.bench.name_quality import choose_names, reciprocal_rank
from tests.bench.scoring import Place


def test_names_of_one_word_that_one_file_has_come_first() -> None:
    classes = {
        "Gson": {"a.java"},
        "GsonBuilder": {"b.java"},
        "Reader": {"c.java", "d.java"},
        "Io": {"e.java"},
        "text": {"f.java"},
    }
    assert choose_names(classes, 1) == [("Gson", "a.java")]
    assert choose_names(classes, 5) == [("Gson", "a.java"), ("GsonBuilder", "b.java")]


def test_the_rank_is_that_of_the_first_result_in_the_file() -> None:
    results = [Place("a", 1, 2), Place("b", 1, 2), Place("b", 5, 9)]
    assert [reciprocal_rank(results, path) for path in ("a", "b", "c")] == [1.0, 0.5, 0.0]
