"""The prefilters for whole files find what the loops for short texts find."""

import json
import string
from itertools import accumulate, chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.secrets import scan
from gitmem.secrets.masking import mask_each, mask_secrets
from gitmem.secrets.occurrences import find_places
from gitmem.secrets.prefilter import KeywordFinder, RunFinder, contains, find_short, may_contain, surround_all
from gitmem.secrets.rules import begins_with, load_rules
from gitmem.secrets.scan import (
    AFTER,
    BEFORE,
    LONG_CAPITALS,
    MAX_RUN,
    MIN_RUN,
    TOKEN_BYTES,
    find_capitals,
    find_runs,
    surround,
)
from tests.secrets.samples import SAMPLES

RUNS = RunFinder(TOKEN_BYTES, MIN_RUN, MAX_RUN, LONG_CAPITALS)
KEYWORDS = KeywordFinder(list(load_rules().by_keyword))
PLAIN = [b"retries_after_first_1 = 3", b"https://example.com/a/path1", b"://user:", b"@host1"]
TEXTS = st.lists(
    st.sampled_from(
        [b" ", b"\n", b"0", b"12", b"aB", b"_-=/", b"\xc3\xa9", b"x" * 9, b"y" * 5000, b"AKIA" * 6, b"akia", b"hf_"]
    ),
    max_size=40,
).map(b"".join)


@settings(deadline=None)
@given(TEXTS)
def test_runs_are_those_of_the_loop(text: bytes) -> None:
    runs, capitals = RUNS.find(text)
    assert ([tuple(span) for span in runs.tolist()], capitals) == (list(find_runs(text)), list(find_capitals(text)))


@settings(deadline=None)
@given(st.lists(st.one_of(TEXTS, st.binary(max_size=300), st.sampled_from(sorted(load_rules().by_keyword)))))
def test_keywords_are_found_where_a_search_for_each_finds_them(parts: list[bytes]) -> None:
    text = b"".join(parts)
    expected = {word: places for word in load_rules().by_keyword if (places := find_places(text, word))}
    found = KEYWORDS.find(text)
    assert found == expected
    assert list(found) == list(expected)


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=12)


@settings(deadline=None)
@given(st.lists(st.text("ab\n", max_size=20).map(str.encode), min_size=1, max_size=4), st.lists(SPANS, max_size=3))
def test_the_regions_around_candidates_are_those_of_the_loop(
    texts: list[bytes], spans: list[list[tuple[int, int]]]
) -> None:
    ends = list(accumulate((len(text) + 1 for text in texts), initial=-1))[1:]
    data = b"\n".join(texts)
    inside = [[(start, start + size) for start, size in part if start + size <= len(data)] for part in spans]
    expected = surround(data, sorted(chain.from_iterable(inside)), ends)
    assert surround_all(data, inside or [[]], ends, BEFORE, AFTER) == expected


CONTENTS = st.lists(
    st.sampled_from([*(sample.encode() for sample in SAMPLES.values()), *PLAIN, b"\n", b" ", b"key", b"x" * 3000]),
    max_size=6,
).map(b"".join)


@settings(deadline=None)
@given(st.lists(CONTENTS, max_size=5))
def test_texts_together_are_masked_as_each_alone(texts: list[bytes]) -> None:
    assert mask_each(texts) == list(map(mask_secrets, texts))


def test_a_text_with_too_many_candidates_is_masked_alone() -> None:
    key = b"-----BEGIN RSA " + b"PRIVATE KEY-----\n" + b"abcdefgh" * 8 + b"\n"  # without digits: no candidate
    full = key + b"-----END RSA " + b"PRIVATE KEY-----\n" + b"key = token_1234567 \n" * 60_000
    plain = b"retries_after_the_first_1 = 3\n" * 100
    masked = mask_each([plain, full, plain])
    assert masked == [plain, mask_secrets(full), plain]
    assert b"token_1234567" not in masked[1]
    assert b"abcdefgh" not in masked[1]


def test_a_secret_is_masked_in_a_large_file_as_in_a_small_one() -> None:
    filler = b"plain words on a line\n" * 400
    for sample in SAMPLES.values():
        line = sample.encode()
        assert mask_secrets(filler + line + b"\n" + filler) == filler + mask_secrets(line + b"\n") + filler


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([b"h", b"f", b"_", b"hf_", b"PRIV", b"ATE", b"x" * 5, b"\n"]), max_size=12).map(b"".join)
)
def test_fixed_texts_are_found_where_a_search_finds_them(text: bytes) -> None:
    assert find_short(text, b"hf_") == find_places(text, b"hf_")
    assert contains(text, b"hf_") == (b"hf_" in text)
    assert contains(text, b"PRIVATE") == (b"PRIVATE" in text)
    assert may_contain(text, [b"PRIVATE", b"PuTTY-U"]) >= (b"PRIVATE" in text)


def test_a_text_without_a_word_of_a_fixed_text_is_excluded() -> None:
    assert not may_contain(b"private words, PRI ATE" * 9, [b"PRIVATE", b"PuTTY-U"])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\b((?:hvs\.[a-z]{9}|s\.(?i:[a-z|]{24})))(?:[;]|$)", True),
        (r"(?i:HVS\.\d)|s\.x", True),
        (r"hvs\.\d|x", False),
        (r"(?:hvs\.)?x", False),
        (r"(hvs\.)?x", False),
        (r"(?:a|hvs\.)x", False),
        (r"s\.?x", False),
        (r".hvs\.", False),
    ],
)
def test_a_pattern_begins_with_a_keyword_only_if_all_its_alternatives_do(pattern: str, expected: bool) -> None:
    assert begins_with(pattern, ["hvs.", "s."]) == expected


def test_names_that_rules_start_at_are_followed_by_an_operator() -> None:
    """What `Rule.match_name` expects of them."""
    between = r"""(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)"""
    listed = json.loads((Path(scan.__file__).parent / "gitleaks_rules.json").read_text())["rules"]
    started = [rule["pattern"].partition(between) for rule in listed if rule["starts_at_keyword"]]
    assert len(started) > 80
    for name, found, _ in started:
        assert found
        assert not set(name) - set(string.ascii_letters + string.digits + "()|?:i_-[].,")
