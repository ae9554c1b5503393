"""Which names of classes are searched, and how a result is scored."""

from gitmem.references.file_names import CLASS, FUNCTION, Definition
from tests.bench.name_quality import choose_members, choose_names, choose_spoken, reciprocal_rank
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


def test_names_in_words_have_a_stop_word_or_are_conversions_with_an_opposite() -> None:
    names = ("copyToClipboard", "rgb_to_hsv", "hsv_to_rgb", "xml2json", "to_text", "render_page", "test_it_all_now")
    own = [Definition(0, line, FUNCTION, name, ()) for line, name in enumerate(names, 1)]
    assert sorted(choose_spoken({"a": own}, 9)) == [
        ("convert hsv to rgb", "a", 3),
        ("convert rgb to hsv", "a", 2),
        ("copy to clipboard", "a", 1),
    ]
    assert choose_spoken({"a": own[:1], "b": own[:1]}, 9) == []
