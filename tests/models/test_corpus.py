"""Each code appears once, no query too often, and related packages stay on one side."""

from models.recipe.corpus import MAX_REPEATS, MAX_REPEATS_IN_PACKAGE, Corpus, is_held_out
from models.recipe.packages import family
from models.recipe.pairs import Pair, digest_of


def pair(query: str, code: str, kind: str = "doc") -> Pair:
    code = f"def {code}(): return one_value_of_many(alpha, beta, gamma, delta)"
    return Pair(query, code, "python", kind, "a.py", code, digest_of(code))


def test_a_code_is_used_once_with_its_best_query() -> None:
    corpus = Corpus()
    assert [selected.kind for selected in corpus.take([pair("name", "a", "name"), pair("doc", "a")])] == ["doc"]
    assert not list(corpus.take([pair("another", "a")]))


def test_a_mention_is_a_second_query_for_known_code() -> None:
    corpus = Corpus()
    selected = corpus.take([pair("named", "a", "mention"), pair("doc", "a"), pair("named", "b", "mention")])
    assert [(one.kind, one.query) for one in selected] == [("doc", "doc"), ("mention", "named")]


def test_a_frequent_query_is_boilerplate() -> None:
    corpus = Corpus()
    assert len(list(corpus.take(pair("Constructor.", f"a{i}") for i in range(9)))) == MAX_REPEATS_IN_PACKAGE
    selected = sum(len(list(corpus.take([pair("constructor.", f"b{i}")]))) for i in range(9))
    assert selected == MAX_REPEATS - MAX_REPEATS_IN_PACKAGE


def test_packages_of_one_family_are_held_out_together() -> None:
    names = ["librust-alpha-dev", "librust-alpha-0.4-dev", "alpha", "python3-alpha", "@scope/alpha", "alpha2.1"]
    assert {family(name) for name in names} == {"alpha"}
    assert len({is_held_out(name) for name in names}) == 1


def test_some_packages_are_held_out_and_most_are_not() -> None:
    held = sum(is_held_out(f"package-{letter}{number}x") for letter in "abcdefghij" for number in range(100))
    assert 40 <= held <= 100
