"""Which names of classes are searched, and how a result is scored."""

from gitmem.references.file_names import CLASS, FUNCTION, Definition
from tests.bench.name_quality import choose_members, choose_names, reciprocal_rank
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


def test_the_rank_of_a_member_is_that_of_the_first_result_with_its_line() -> None:
    results = [Place("a", 1, 2), Place("a", 4, 9), Place("a", 5, 5)]
    assert [reciprocal_rank(results, "a", line) for line in (1, 5, 3)] == [1.0, 0.5, 0.0]


def test_members_that_several_files_define_are_chosen_if_their_class_has_one_alone() -> None:
    def define(*classes: str) -> list[Definition]:
        own = [Definition(0, 1, CLASS, name, ()) for name in classes]
        return [*own, *(Definition(0, 2, FUNCTION, "get", (name,)) for name in classes)]

    files = {
        "a": define("Cache"),
        "b": define("Pool"),
        "c": define("Pool"),
        "d": [Definition(0, 3, FUNCTION, "put", ())],
    }
    assert choose_members(files, 9) == [("Cache.get", "a", 2)]
    assert choose_members({name: files[name] for name in "ab"}, 9) == []
    assert choose_members({"a.h": files["a"], "b": files["b"], "c": files["c"]}, 9) == []
