"""Words: all spellings of a name share a term, in any script, and terms have a limited length."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.words import (
    MAX_IDENTIFIER,
    MAX_TERM_BYTES,
    compound_of,
    count_identifiers,
    decode,
    split_identifier,
    stem,
    terms_of,
)

part = st.sampled_from(["get", "user", "name", "http", "parse", "cookie", "sign", "table", "x2"])
many = settings(max_examples=200, deadline=None)


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("parseHTTPRequest_v2", ["parse", "HTTP", "Request", "v", "2"]),
        ("get_user", ["get", "user"]),
        ("getUser", ["get", "User"]),
        ("GETUser", ["GET", "User"]),
        ("__init__", ["init"]),
        ("SCREAMING_SNAKE", ["SCREAMING", "SNAKE"]),
        ("utf8Decode", ["utf", "8", "Decode"]),
        ("x", ["x"]),
        ("___", []),
        ("größe_Ändern", ["größe", "Ändern"]),
        ("été_2", ["été", "2"]),
    ],
)
def test_identifiers_are_split_at_word_boundaries(identifier: str, parts: list[str]) -> None:
    assert split_identifier(identifier) == parts


@many
@given(words=st.lists(part, min_size=2, max_size=4))
def test_a_name_in_any_style_has_the_same_compound(words: list[str]) -> None:
    styles = ["_".join(words), "_".join(words).upper(), "".join(map(str.title, words))]
    styles.append(words[0] + "".join(map(str.title, words[1:])))
    compound = compound_of([part for word in words for part in split_identifier(word)])
    assert all(compound in terms_of(style) for style in styles)


@pytest.mark.parametrize(
    ("identifier", "word"),
    [
        ("GitHubClient", "github"),
        ("web_socket_server", "websocket"),
        ("setFileNames", "filename"),
        ("OAuthController", "oauth"),
        ("OAuth2Server", "oauth2"),
        ("putS3Object", "s3"),
        ("AWS_S3_ACL", "S3"),
        ("parseIPv6Address", "ipv6"),
        ("sha256_hex", "SHA256"),
        ("I18nService", "i18n"),
    ],
)
def test_neighbouring_parts_that_are_one_word_match_it(identifier: str, word: str) -> None:
    assert set(terms_of(word)) & set(terms_of(identifier))


@pytest.mark.parametrize("word", ["fileName", "file_name", "filename", "FileNames"])
def test_a_word_has_the_same_term_in_one_and_in_two_parts(word: str) -> None:
    assert "filenam" in terms_of(word)


@pytest.mark.parametrize(
    ("identifier", "others"), [("addOnce", "addon"), ("setRoute_1_2", "route12"), ("a3b", "3b"), ("0x1F600", "f600")]
)
def test_parts_that_are_no_word_are_not_joined(identifier: str, others: str) -> None:
    assert others not in terms_of(identifier)


@pytest.mark.parametrize(
    "family",
    [
        ("caching", "caches", "cached", "cache"),
        ("queries", "query", "querying", "queried"),
        ("parse", "parses", "parsed", "parsing"),
        ("boxes", "box"),
        ("running", "runs", "run"),
        ("classes", "class"),
        ("alias", "aliases", "aliased", "aliasing"),
        ("canvas", "canvases"),
        ("serialize", "serializer", "serializers", "serialization", "serializing", "serialized", "serializable"),
        ("resize", "resizer", "resizing"),
        ("size", "sizes"),
        ("prize", "prizes"),
        ("organisation", "organise", "organising"),
    ],
)
def test_forms_of_a_word_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(
    "pair",
    [("universe", "universal"), ("string", "str"), ("status", "stat"), ("this", "thi"), ("ring", "r"), ("bus", "bu")],
)
def test_different_words_keep_different_stems(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])


@many
@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=20))
def test_a_stem_is_never_empty_and_never_longer_than_its_word(word: str) -> None:
    assert (len(stem(word)) > 0) == (len(word) > 0)
    assert len(stem(word)) <= len(word)


@many
@given(st.text(max_size=300))
def test_terms_of_any_text_fit_into_the_index_and_are_distinct(text: str) -> None:
    for identifier in count_identifiers(text).identifiers:
        terms = terms_of(identifier)
        assert len(set(terms)) == len(terms)
        assert all(0 < len(term.encode()) <= MAX_TERM_BYTES for term in terms)
        assert terms_of(identifier) == terms


@pytest.mark.parametrize("letter", ["a", "İ", "ß", "ﬃ", "漢", "𐐀", "\U0001d54f", "\uff17"])
def test_huge_identifiers_are_cut(letter: str) -> None:
    terms = terms_of(letter * 100_000)
    assert sum(map(len, terms)) <= 8 * MAX_IDENTIFIER
    assert all(len(term.encode()) <= MAX_TERM_BYTES for term in terms)


@pytest.mark.parametrize(
    ("text", "query"), [("東京都庁の検索", "検索"), ("データベース接続", "接続"), ("사용자이름", "이름")]
)
def test_text_without_spaces_is_found_by_a_word_inside(text: str, query: str) -> None:
    terms = {term for identifier in count_identifiers(text).identifiers for term in terms_of(identifier)}
    assert set(terms_of(query)) & terms


def test_other_alphabets_ignore_case() -> None:
    assert set(terms_of("Привет_Мир")) >= {"привет", "мир"}
    assert terms_of("ΣΟΦΙΑ")[0] == terms_of("σοφια")[0]


def test_identifiers_are_counted() -> None:
    assert count_identifiers("a_b(a_b, c1); a-b").identifiers == {"a_b": 2, "c1": 1, "a": 1, "b": 1}
    assert count_identifiers("").identifiers == {}


@given(st.text())
def test_utf_8_is_decoded(text: str) -> None:
    assert decode(text.encode("utf-8", "surrogatepass") if text.isprintable() else b"") in (text, "", text[1:])


def test_invalid_utf_8_is_latin_1_and_a_byte_order_mark_is_removed() -> None:
    assert decode(b"caf\xe9") == "café"
    assert decode(b"\xef\xbb\xbfcaf\xc3\xa9") == "café"


def test_ever_new_words_cost_a_bounded_memory() -> None:
    terms_of.cache_clear()
    for number in range(40_000):
        terms_of(f"wordNumber{number}")
    assert terms_of.cache_info().currsize <= 1 << 15  # half a kilobyte each
    terms_of.cache_clear()
