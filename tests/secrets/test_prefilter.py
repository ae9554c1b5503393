"""The prefilters for whole files find what the loops for short texts find."""

from hypothesis import given
from hypothesis import strategies as st

from gitmem.secrets.masking import mask_secrets
from gitmem.secrets.prefilter import KeywordFilter, RunFinder
from gitmem.secrets.rules import load_rules
from gitmem.secrets.scan import MAX_RUN, MIN_RUN, TOKEN_BYTES, find_runs
from tests.secrets.samples import SAMPLES

RUNS = RunFinder(TOKEN_BYTES, MIN_RUN, MAX_RUN)
KEYWORDS = KeywordFilter(list(load_rules().by_keyword))
TEXTS = st.lists(
    st.sampled_from([b" ", b"\n", b"0", b"12", b"aB", b"_-=/", b"\xc3\xa9", b"x" * 9, b"y" * 5000, b"akia", b"hf_"]),
    max_size=40,
).map(b"".join)


@given(TEXTS)
def test_runs_are_those_of_the_loop(text: bytes) -> None:
    assert RUNS.find(text) == list(find_runs(text))


@given(st.one_of(TEXTS, st.binary(max_size=300)), st.sampled_from(sorted(load_rules().by_keyword)))
def test_no_keyword_of_a_text_is_excluded(text: bytes, keyword: bytes) -> None:
    whole = text + keyword + text
    possible = KEYWORDS.find_possible(whole)
    assert [word for word in load_rules().by_keyword if word in whole] == [word for word in possible if word in whole]


def test_most_keywords_are_excluded_from_a_text_without_them() -> None:
    text = b"def handle(request):\n    return respond(request, status=200, body=render('index.html'))\n" * 50
    assert len(KEYWORDS.find_possible(text)) < len(load_rules().by_keyword) / 4


def test_a_secret_is_masked_in_a_large_file_as_in_a_small_one() -> None:
    filler = b"plain words on a line\n" * 400
    for sample in SAMPLES.values():
        line = sample.encode()
        assert mask_secrets(filler + line + b"\n" + filler) == filler + mask_secrets(line + b"\n") + filler
