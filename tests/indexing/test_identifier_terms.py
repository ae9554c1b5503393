"""Terms of many identifiers, numbered at once from those of their parts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.identifier_counts import Identifiers
from gitmem.indexing.identifier_terms import IdentifierTerms
from gitmem.words import split_terms

words = st.one_of(
    st.text("abABZs2_", min_size=1, max_size=9),
    st.sampled_from(
        ["getUser", "HTTPRequest_v2", "users_users", "x", "_", "running", "naïve_User", "0x1F600", "検索する", "a" * 70]
    ),
    st.lists(st.sampled_from(["Git", "Hub", "s", "3", "O", "Auth", "2", "file", "Names", "_", "Client"])).map("".join),
    st.text("aB_", min_size=60, max_size=70),
)


@settings(deadline=None)
@given(st.lists(st.lists(words, max_size=20), min_size=1, max_size=3))
def test_terms_are_those_of_each_identifier_alone(batches: list[list[str]]) -> None:
    identifiers, terms = Identifiers(), IdentifierTerms()
    for batch in batches:
        first = len(identifiers.names)
        for word in batch:
            identifiers[word.encode()]
        new = [name.decode() for name in identifiers.names[first:]]
        if not new:
            continue
        sizes, ids = terms.look_up(identifiers, first)
        names = [terms.names[number].decode() for number in ids.tolist()]
        ends = sizes.cumsum().tolist()
        found = [sorted(names[end - size : end]) for end, size in zip(ends, sizes.tolist(), strict=True)]
        assert found == [sorted(split_terms(name)) for name in new]


def test_tables_of_one_numbering_share_the_division_into_parts() -> None:
    identifiers = Identifiers()
    identifiers[b"getUser"]
    division = identifiers.divide_from(0)
    assert identifiers.divide_from(0) is division
    identifiers[b"setUser"]
    assert [identifiers.parts.names[part] for part in identifiers.divide_from(0).parts] == [
        "get",
        "user",
        "set",
        "user",
    ]
