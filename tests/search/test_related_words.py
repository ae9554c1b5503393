"""Words formed from one verb are related, and so are abbreviations; words that only look so are not."""

import pytest

from gitmem.search.abbreviations import FULL_FORMS
from gitmem.search.related_words import prefixes_of_related, roots_of
from gitmem.words import stem


def _are_related(first: str, second: str) -> bool:
    return not set(roots_of(stem(first))).isdisjoint(roots_of(stem(second)))


@pytest.mark.parametrize(
    "family",
    [
        "parse parser parsing",
        "run runner",
        "render renderer",
        "time timer",
        "validate validation validator",
        "compile compiler compilation",
        "deploy deployment",
        "remove removal",
        "define definition",
        "verify verifier verification",
        "resolve resolver resolution",
        "describe description",
        "convert converter conversion",
        "expand expansion",
        "submit submission",
        "include inclusion",
        "compare comparator comparison",
        "analyze analyzer analysis",
        "cancel cancellation",
        "config configuration configure cfg",
        "configuration config cfg conf",
        "asynchronous async",
        "definition def",
        "windows win",
        "repo repository",
    ],
)
def test_words_formed_from_a_verb_are_related_to_it(family: str) -> None:
    verb, *others = family.split()
    assert [word for word in others if not _are_related(verb, word)] == []
    prefixes = prefixes_of_related([stem(verb)])
    assert all(any(prefix in word for prefix in prefixes) for word in others)


@pytest.mark.parametrize(
    "pair",
    [
        "state station",
        "port portion",
        "auth author",
        "head header",
        "use user",
        "part parser",
        "state statement",
        "origin original",
        "authentication authorization",
        "environment envelope",
    ],
)
def test_words_that_only_look_alike_are_not_related(pair: str) -> None:
    assert not _are_related(*pair.split())


def test_abbreviations_are_written_as_the_index_has_them() -> None:
    assert [short for short in FULL_FORMS if stem(short) != short] == []
