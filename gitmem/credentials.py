"""Keys and tokens in bytes, by the rules of detect-secrets; nothing is verified over the network.

Importing those rules takes as long as indexing a hundred files, so they are shown only what bears the mark of a known
format. Formats without a mark (a value behind a telling name, a password within a URL, so many digits and a colon) are
left out: in code these are mostly names and examples. Private keys are known by their heads (RFC 7468), without rules.
"""

import re
import string
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

PRIVATE_KEY: Final = "PrivateKeyDetector"
UNMARKED: Final = frozenset({
    "ArtifactoryDetector", "Base64HighEntropyString", "BasicAuthDetector", "CloudantDetector",
    "DiscordBotTokenDetector", "HexHighEntropyString", "IPPublicDetector", "IbmCloudIamDetector", "IbmCosHmacDetector",
    "KeywordDetector", "MailchimpDetector", "SoftlayerDetector", "TelegramBotTokenDetector", "TwilioKeyDetector",
})  # fmt: skip
"""Rules of the library for what has no mark, or one of two letters."""

LEAST: Final = 20
"""Characters of the shortest key that is looked for, an AWS access key id; what is shorter is an example."""

_MOST: Final = 4096
"""Characters of the longest: beyond that it is encoded data."""

_TOKEN: Final = (string.ascii_letters + string.digits + "_+/-").encode()
_SHAPE: Final = bytes(ord("x" if code in _TOKEN else " ") for code in range(256))
_LONG: Final = b"x" * LEAST
_DIGIT: Final = re.compile(rb"\d")
_FORMATS: Final = {
    mark: re.compile(tail)
    for marks, tail in (
        (b"A3T ABIA ACCA AKIA ASIA", rb"[A-Z0-9]{16}"),
        (b"GR1348941 T3BlbkFJ k_live_", rb"[\w-]{20}"),
        (b"SG.", rb"[\w-]{22}\.[\w-]{43}"),
        (b"eyJ", rb"[\w=-]+\.[\w=-]"),
        (b"gho_ ghp_ ghr_ ghs_ ghu_", rb"\w{36}"),
        (b"glagent- glcbt- gldt- glft- glimt- gloas- glpat- glptt- glrt- glsoat-", rb"[\w-]{20}"),
        (b"pypi-AgE", rb"[\w-]{70}"),
        (b"xoxa- xoxb- xoxo- xoxp- xoxr- xoxs-", rb"\d"),
        (b"AccountKey= _authToken= hooks.slack.com/services/ sq0csp-", rb""),
    )
    for mark in marks.split()
}
"""What keys of known formats hold, as those write them who hand them out, and what stands behind it."""

_MARKS: Final = re.compile(b"|".join(map(re.escape, _FORMATS)))
_LEAD: Final = len("hooks.slack.")
"""So far before a run of token characters a mark may begin."""

_NAMED_LENGTH: Final = 40
_NAMED: Final = re.compile(rb"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])")
_NAME: Final = b"aws"
_NAME_BEFORE: Final = 100
"""A secret key of AWS has no mark, but 40 characters, and this stands so near before it."""

_CONTEXT: Final = 1000
"""Bytes before and behind a run that rules may look at, within its line: a web token has three runs."""

_TOKENS: Final = re.compile(r"[\w+/=.-]+", re.ASCII)

_HEADS: Final = (b"PRIVATE KEY", b"PuTTY-User-Key-File-")
_HEAD: Final = re.compile(rb"BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?|PuTTY-User-Key-File-\d")
_NEXT: Final = re.compile(rb"(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY")
_MOST_BODY: Final = 20_000
"""Bytes of the longest private key; one of 16,384 bits has 13,000."""

_ENCODED_LENGTH: Final = 32
_ENCODED: Final = re.compile(rb"[A-Za-z0-9+/=]{%d,}" % _ENCODED_LENGTH)
_PIECE: Final = re.compile(rb"(?:(?<!\\)|(?<=\\[nr]))[A-Za-z0-9+/=]{2,}")
"""Not the letter of an escaped line end, without which a string would not be one any more."""

_VISIBLE: Final = re.compile(rb"[!-~]")

Span = tuple[int, int]


def hide_secrets(data: bytes) -> bytes:
    """The same bytes with dots for the characters of keys and tokens, so that every other one keeps its place."""
    runs = _long_runs(data)
    if not runs:
        return data
    spans = [*_find_tokens(data, runs), *_find_private_keys(data, runs)]
    if not spans:
        return data
    hidden = bytearray(data)
    for start, end in spans:
        hidden[start:end] = b"." * (end - start)
    return bytes(hidden)


def _long_runs(data: bytes) -> list[Span]:
    """Long runs of token characters that may be random: with a digit (one key in 500 has none), or in capitals."""
    runs: list[Span] = []
    shape = data.translate(_SHAPE)
    start = shape.find(_LONG)
    while start >= 0:
        end = shape.find(b" ", start)
        end = end if end >= 0 else len(data)
        if end - start <= _MOST and (_DIGIT.search(data, start, end) or data[start:end].isupper()):
            runs.append((start, end))
        start = shape.find(_LONG, end)
    return runs


def _find_tokens(data: bytes, runs: Sequence[Span]) -> Iterator[Span]:
    """Where the tokens are that rules find around marked runs."""
    seen = 0
    for start, end in _marked_runs(data, runs):
        if end <= seen:
            continue
        first = max(data.rfind(b"\n", 0, start) + 1, start - _CONTEXT)
        stop = data.find(b"\n", end, end + _CONTEXT)
        seen = stop if stop >= 0 else min(len(data), end + _CONTEXT)
        for low, high in _apply_rules(data[first:seen].decode("latin-1")):  # a character for each byte
            yield first + low, first + high


def _marked_runs(data: bytes, runs: Sequence[Span]) -> Iterator[Span]:
    joined = b" ".join([data[max(0, start - _LEAD) : end] for start, end in runs])
    marked = _MARKS.search(joined) is not None
    named = any(end - start >= _NAMED_LENGTH for start, end in runs) and _NAME in data.lower()
    for start, end in runs if marked or named else ():
        if (marked and _is_marked(data, start, end)) or (named and _is_named(data, start, end)):
            yield start, end


def _is_marked(data: bytes, start: int, end: int) -> bool:
    part = data[max(0, start - _LEAD) : end + _CONTEXT]
    return any(_FORMATS[mark.group()].match(part, mark.end()) for mark in _MARKS.finditer(part))


def _is_named(data: bytes, start: int, end: int) -> bool:
    return _NAME in data[max(0, start - _NAME_BEFORE) : end].lower() and _NAMED.search(data, start, end) is not None


def _apply_rules(text: str) -> Iterator[Span]:
    for rule in _marked_rules():
        values = set(rule.analyze_string(text))  # some rules ask for more than their patterns
        for pattern in rule.denylist if values else ():
            for found in pattern.finditer(text):
                if not values.isdisjoint((found.group(), *found.groups(""))):
                    yield _token_span(text, found)


def _token_span(text: str, found: re.Match[str]) -> Span:
    """The token of a match, to its end: patterns may hold what stands before it, and stop before it ends."""
    groups = [found.span(number) for number in range(1, found.re.groups + 1)]
    span = max([group for group in groups if _length(group) >= LEAST], key=_length, default=found.span())
    start, _ = max((run.span() for run in _TOKENS.finditer(text, *span)), key=_length, default=span)
    run = _TOKENS.match(text, start)
    return run.span() if run else span


def _length(span: Span) -> int:
    return span[1] - span[0]


def _find_private_keys(data: bytes, runs: Sequence[Span]) -> Iterator[Span]:
    """Where the encoded pieces of private keys are; none where mostly something else stands behind a head, as in code
    that reads keys."""
    if not any(end - start >= _ENCODED_LENGTH for start, end in runs) or not any(head in data for head in _HEADS):
        return
    for head in _HEAD.finditer(data):
        foot = _NEXT.search(data, head.end(), head.end() + _MOST_BODY)
        body = data[head.end() : foot.start() if foot else head.end() + _MOST_BODY]
        if 2 * sum(map(len, _ENCODED.findall(body))) >= len(_VISIBLE.findall(body)):
            for piece in _PIECE.finditer(body):
                yield head.end() + piece.start(), head.end() + piece.end()


@cache
def _marked_rules() -> tuple[Any, ...]:
    return tuple(rule for name, rule in load_rules().items() if name not in UNMARKED | {PRIVATE_KEY})


@cache
def load_rules() -> dict[str, Any]:
    """Every rule of the library by the name of its class. Slow when first called."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    by_type: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return {rule.__name__: rule() for rule in by_type.values()}
