"""Find secrets in bytes in two steps, so that ordinary text costs little.

First the *candidates*: runs of token characters with a digit, long runs without letters in lower case, and passwords in
URLs. Almost no other text is a secret. Then the rules whose keyword stands near a candidate are applied there. Each
rule sees a bounded window around its keyword, so time grows linearly with the length of the text, whatever it holds.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Final, Literal

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple
from gitmem.secrets.occurrences import find_places
from gitmem.secrets.private_keys import KEY_MARKS, contains_key_header, find_private_keys

if TYPE_CHECKING:
    from gitmem.secrets.prefilter import KeywordFinder, RunFinder
    from gitmem.secrets.rules import Rule

Span = tuple[int, int]

# Written out: importing `string` would take 1.4 ms of every command that prints code.
_CAPITAL_BYTES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TOKEN_BYTES: Final = _CAPITAL_BYTES + _CAPITAL_BYTES.lower() + b"0123456789_+/=.~-"
_SHAPE: Final = bytes(ord("x" if code in TOKEN_BYTES else " ") for code in range(256))
"""Translation of token characters to `x` and of all other bytes to blanks."""

MIN_RUN: Final = 10
MAX_RUN: Final = 4096
"""Longer runs are encoded data."""

_TOKEN: Final = lazy_pattern(rb"[%s]{0,%d}" % (re.escape(TOKEN_BYTES), MAX_RUN))

_CAPITALS: Final = bytes(ord("x" if code in _CAPITAL_BYTES else " ") for code in range(256))
LONG_CAPITALS: Final = 20
"""Length of a run of capitals from which on it may be a key without digits."""

_MANY_CAPITALS: Final = b"x" * LONG_CAPITALS
_DIGITS: Final = lazy_pattern(rb"\d+")
_LETTERS_ONLY: Final = (b"hf_", b"api_org_")
"""Prefixes of tokens of letters alone."""

_LARGE: Final = 2048
"""Bytes from which a text is searched with numpy: a smaller one takes less time than the calls of numpy."""

_URL: Final = b"://"
_URL_REACH: Final = 250

BEFORE: Final = 160
"""Bytes before a candidate in which the name of its value may stand, also on earlier lines."""

AFTER: Final = 100
_WINDOW: Final = 600
"""Bytes after a keyword that a rule sees, and the rest of the token at their end. Some rules take quadratic time."""

_MAX_WORK: Final = 50_000
_MATCH_WORK: Final = 25
"""Attempts to match a rule, of which a match costs so many. A text that needs more is made to be searched slowly, or
full of keys: then all of its candidates count as secrets."""

PRIVATE_KEY: Final = "private-key"
UNCHECKED: Final = "too-many-candidates"


class Finding(NamedTuple):
    """Secret in bytes: the name of its rule and its span."""

    rule: str
    start: int
    end: int


def find_secrets(data: bytes) -> list[Finding]:
    """Return the secrets of a text in the order of their offsets; they may overlap."""
    return find_secrets_in([data])[0]


def find_secrets_in(texts: Sequence[bytes]) -> list[list[Finding]]:
    """Return the secrets of each text.

    Texts are joined by line ends, which no candidate contains: one pass over all costs half of a pass over each.
    """
    joined = b"\n".join(texts) if len(texts) > 1 else texts[0] if texts else b""
    ends = list(accumulate((len(text) + 1 for text in texts), initial=-1))[1:]
    findings: list[list[Finding]] = [[] for _ in texts]
    if (len(joined) < _LARGE or _may_contain(joined, KEY_MARKS)) and contains_key_header(joined):
        for own, text in zip(findings, texts, strict=True):
            own += [Finding(PRIVATE_KEY, start, end) for start, end in find_private_keys(text)]
    regions = _find_regions(joined, ends)
    if regions:
        _apply_rules(joined, ends, regions, findings)
    return [sorted(own, key=lambda finding: finding[1:]) for own in findings]


def _find_regions(data: bytes, ends: Sequence[int]) -> list[Span]:
    """Return the surroundings of candidates, in order and without overlaps. None reaches into two texts.

    A region ends with a line, or after a token: a rule must not see half of one.
    """
    if len(data) < _LARGE:
        regions = surround(data, sorted([*find_runs(data), *find_capitals(data), *find_rare(data)]), ends)
    else:
        # Imported here, as below: numpy would cost a command that prints a note more than the scan.
        from gitmem.secrets.prefilter import contains, find_short, surround_all

        prefixes = [prefix for prefix in _LETTERS_ONLY if contains(data, prefix)]
        rare = [*_find_prefixed(data, prefixes), *_find_url_passwords(data, find_short(data, _URL))]
        regions = surround_all(data, [*_run_finder().find(data), rare], ends, BEFORE, AFTER)
    return [(start, _token_end(data, stop)) for start, stop in regions]


def surround(data: bytes, candidates: Iterable[Span], ends: Sequence[int]) -> list[Span]:
    """Return the regions around candidates in order, up to the end of a line; joined if they meet."""
    regions: list[Span] = []
    number = -1
    text_start, text_end = 0, -1
    for start, end in candidates:
        while start > text_end:
            number += 1
            text_start, text_end = text_end + 1, ends[number]
        reach = min(text_end, end + AFTER)
        line_end = data.find(b"\n", end, reach)
        stop = line_end if line_end >= 0 else reach
        first = max(text_start, start - BEFORE)
        if regions and first <= regions[-1][1]:
            first, last = regions.pop()
            stop = max(stop, last)
        regions.append((first, stop))
    return regions


def _token_end(data: bytes, position: int) -> int:
    """Return the end of the token characters that begin at a position, of which at most `MAX_RUN` are read."""
    match = _TOKEN.match(data, position)
    assert match is not None
    return match.end()


def find_rare(data: bytes) -> Iterator[Span]:
    """Yield the candidates that are neither runs with a digit nor runs of capitals."""
    yield from _find_prefixed(data, [prefix for prefix in _LETTERS_ONLY if prefix in data])
    yield from _find_url_passwords(data, find_places(data, _URL))


def find_runs(data: bytes) -> Iterator[Span]:
    """Yield the runs of token characters with a digit, of a length that a secret may have."""
    shape = data.translate(_SHAPE)
    end = 0
    for digits in _DIGITS.finditer(data):
        # Digits are rare in text, and a run is long, so most of this loop is the search for blanks.
        if digits.start() < end:
            continue
        start = shape.rfind(b" ", end, digits.start()) + 1 or end
        end = shape.find(b" ", digits.end())
        end = end if end >= 0 else len(data)
        if MIN_RUN <= end - start <= MAX_RUN:
            yield start, end


def _may_contain(data: bytes, texts: Sequence[bytes]) -> bool:
    from gitmem.secrets.prefilter import may_contain

    return may_contain(data, texts)


@cache
def _run_finder() -> "RunFinder":
    from gitmem.secrets.prefilter import RunFinder

    return RunFinder(TOKEN_BYTES, MIN_RUN, MAX_RUN, LONG_CAPITALS)


def _find_prefixed(data: bytes, prefixes: Sequence[bytes]) -> Iterator[Span]:
    shape = data.translate(_SHAPE) if prefixes else b""
    for prefix in prefixes:
        start = data.find(prefix)
        while start >= 0:
            end = shape.find(b" ", start)
            end = end if end >= 0 else len(data)
            if MIN_RUN <= end - start <= MAX_RUN:
                yield start, end
            start = data.find(prefix, end)


def find_capitals(data: bytes) -> Iterator[Span]:
    """Yield long runs of capitals: a key of AWS may have no digit."""
    shape = data.translate(_CAPITALS)
    start = shape.find(_MANY_CAPITALS)
    while start >= 0:
        end = shape.find(b" ", start)
        yield start, end if end >= 0 else len(data)
        start = shape.find(_MANY_CAPITALS, end) if end >= 0 else -1


def _find_url_passwords(data: bytes, places: Iterable[int]) -> Iterator[Span]:
    """Yield the places of `://` with an `@` after them, before the next blank."""
    at = -1
    for start in places:
        # Most addresses have no password, and most of them no `@` behind them for a long way.
        if at < start:
            at = data.find(b"@", start)
            if at < 0:
                return
        if at < start + _URL_REACH:
            part = data[start : start + _URL_REACH].split(None, 1)[0]
            if b"@" in part and b":" in part[len(_URL) :]:
                yield start, start + len(part)


def _apply_rules(data: bytes, ends: Sequence[int], regions: Sequence[Span], findings: Sequence[list[Finding]]) -> None:
    """Apply the rules near their keywords, and add the secrets to those of each text."""
    from gitmem.secrets.rules import load_rules  # most texts have no candidate, and queries start faster without it

    # All regions in lower case as one text: most keywords occur nowhere in it, and the others are found in one pass.
    lowered = b"\n".join([data[start:end] for start, end in regions]).lower()
    starts = list(accumulate((end - start + 1 for start, end in regions), initial=0))
    text_of = [bisect_left(ends, start) for start, _ in regions]
    work = [0] * len(ends)
    by_keyword = load_rules().by_keyword
    places_of = _keyword_finder().find(lowered) if len(data) >= _LARGE else _find_keywords(lowered, by_keyword)
    for keyword, places in places_of.items():
        for region, positions in _by_region(places, starts, regions):
            number = text_of[region]
            begin = ends[number - 1] + 1 if number else 0
            for rule in by_keyword[keyword] if work[number] <= _MAX_WORK else ():
                for finding in _apply_rule(rule, positions, data, regions[region]):
                    if isinstance(finding, Finding):
                        findings[number].append(Finding(rule.id, finding.start - begin, finding.end - begin))
                    work[number] += _MATCH_WORK if finding else 1
                    if work[number] > _MAX_WORK:
                        break
    for number, attempts in enumerate(work):
        if attempts > _MAX_WORK:
            text = data[ends[number - 1] + 1 if number else 0 : ends[number]]
            keys = [finding for finding in findings[number] if finding.rule == PRIVATE_KEY]
            candidates = [*find_runs(text), *find_capitals(text), *find_rare(text)]
            findings[number][:] = [*keys, *(Finding(UNCHECKED, *span) for span in candidates)]


@cache
def _keyword_finder() -> "KeywordFinder":
    from gitmem.secrets.prefilter import KeywordFinder
    from gitmem.secrets.rules import load_rules

    return KeywordFinder(list(load_rules().by_keyword))


def _find_keywords(lowered: bytes, keywords: Iterable[bytes]) -> dict[bytes, list[int]]:
    """Return the places of each keyword that occurs, in the order of the keywords."""
    return {keyword: find_places(lowered, keyword) for keyword in keywords if keyword in lowered}


def _by_region(
    places: Sequence[int], starts: Sequence[int], regions: Sequence[Span]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the regions that contain places, with their positions in the data. `starts` are those of the regions."""
    for region, own in groupby(places, lambda place: bisect_right(starts, place) - 1):
        yield region, [regions[region][0] + place - starts[region] for place in own]


def _apply_rule(
    rule: "Rule", positions: Sequence[int], data: bytes, region: Span
) -> "Iterator[Finding | Literal[True] | None]":
    """Apply a rule at the positions of its keyword: yield the secrets, True for other matches, None for no match."""
    done, end = region
    for position in positions:
        if position < done:
            continue
        yield None
        stop = end if end - position <= _WINDOW else _token_end(data, position + _WINDOW)
        if rule.starts_at_keyword:
            match = rule.match_name(data, position, stop)
            matches = iter((match,) if match else ())
        else:
            first = max(done, position - BEFORE)
            done = stop
            if not rule.may_match(data, first, position, stop, positions):
                continue
            matches = rule.pattern.finditer(data, first, stop)
        for match in matches:
            span = rule.find_value(data, match)
            done = max(done, span[1]) if span else done
            yield Finding(rule.id, *span) if span else True
