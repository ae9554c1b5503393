"""Each code once, no query too often, sibling packages on one side."""

from models.recipe.corpus import MAX_REPEATS, MAX_REPEATS_IN_PACKAGE, Corpus, is_held_out
from models.recipe.packages import family
from models.recipe.pairs import Pair, digest_of


def pair(query: str, code: str, kind: str = "doc") -> Pair:
    code = f"def {code}(): return one_value_of_many(alpha, beta, gamma, delta)"
    return Pair(query, code, "python", kind, "a.py", code, digest_of(code))


def test_a_code_is_taken_once_by_its_best_query() -> None:
    corpus = Corpus()
    assert [taken.kind for taken in corpus.take([pair("name", "a", "name"), pair("doc", "a")])] == ["doc"]
    assert not list(corpus.take([pair("another", "a")]))


def test_a_mention_is_a_second_query_to_what_is_there() -> None:
    corpus = Corpus()
    found = corpus.take([pair("named", "a", "mention"), pair("doc", "a"), pair("named", "b", "mention")])
    assert [(taken.kind, taken.query) for taken in found] == [("doc", "doc"), ("mention", "named")]


def test_a_query_that_repeats_is_boilerplate() -> None:
    corpus = Corpus()
    assert len(list(corpus.take(pair("Constructor.", f"a{i}") for i in range(9)))) == MAX_REPEATS_IN_PACKAGE
    taken = sum(len(list(corpus.take([pair("constructor.", f"b{i}")]))) for i in range(9))
    assert taken == MAX_REPEATS - MAX_REPEATS_IN_PACKAGE


def test_packages_of_one_family_are_held_out_together() -> None:
    names = ["librust-alpha-dev", "librust-alpha-0.4-dev", "alpha", "python3-alpha", "@scope/alpha", "alpha2.1"]
    assert {family(name) for name in names} == {"alpha"}
    assert len({is_held_out(name) for name in names}) == 1


def test_some_packages_are_held_out_and_most_are_not() -> None:
    held = sum(is_held_out(f"package-{letter}{number}x") for letter in "abcdefghij" for number in range(100))
    assert 40 <= held <= 100
