"""Mask keys and tokens in bytes, by the rules of detect-secrets. Nothing is verified over the network.

Importing those rules takes as long as indexing a hundred files, so a cheap filter runs first. It passes on only text
with the *marker* of a known format, such as `ghp_`. Formats without a marker are left out, such as values assigned to a
name like `password`, passwords in URLs, or digits with a colon. In code these are mostly names and examples.
Private keys are recognised by their header (RFC 7468), without the rules.
"""

import re
import string
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

PRIVATE_KEY_RULE: Final = "PrivateKeyDetector"
RULES_WITHOUT_MARKER: Final = frozenset({
    "ArtifactoryDetector", "Base64HighEntropyString", "BasicAuthDetector", "CloudantDetector",
    "DiscordBotTokenDetector", "HexHighEntropyString", "IPPublicDetector", "IbmCloudIamDetector", "IbmCosHmacDetector",
    "KeywordDetector", "MailchimpDetector", "SoftlayerDetector", "TelegramBotTokenDetector", "TwilioKeyDetector",
})  # fmt: skip
"""Rules of the library for formats without a marker, or with one of two letters. They are not applied."""

_MIN_LENGTH: Final = 20
"""Length of the shortest key that is masked, an AWS access key id. Shorter ones are examples."""

_MAX_LENGTH: Final = 4096
"""Longer runs are encoded data."""

# To find long runs of token characters fast, all of them are translated to `x` and all other bytes to spaces.
_TOKEN_BYTES: Final = (string.ascii_letters + string.digits + "_+/-").encode()
_SHAPE: Final = bytes(ord("x" if code in _TOKEN_BYTES else " ") for code in range(256))
_LONG_RUN: Final = b"x" * _MIN_LENGTH
_DIGIT: Final = re.compile(rb"\d")

_FORMATS: Final = {
    marker: re.compile(tail)
    for markers, tail in (
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
    for marker in markers.split()
}
"""Markers of known formats, as their issuers write them, and the text that must follow each."""

_MARKERS: Final = re.compile(b"|".join(map(re.escape, _FORMATS)))
_MARKER_REACH: Final = len("SG.") + 22 + len(".")
"""Bytes before a run in which its marker may begin. Most are short prefixes of the run itself, but the first part of a
SendGrid key may have no digit, and then only its second part is a run."""

# A secret key of AWS has no marker. It has 40 characters and follows the name of AWS.
_AWS_NAME: Final = b"aws"
_AWS_NAME_REACH: Final = 100
_AWS_KEY_LENGTH: Final = 40
_AWS_KEY: Final = re.compile(rb"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])")

_CONTEXT: Final = 1000
"""Bytes before and after a run that the rules see, within its line. A JSON Web Token has three runs."""

_TOKENS: Final = re.compile(r"[\w+/=.-]+", re.ASCII)
_TOKEN_TAIL: Final = re.compile(rb"[\w+/=.-]+")

_KEY_HEADERS: Final = (b"PRIVATE KEY", b"PuTTY-User-Key-File-")
_KEY_HEADER: Final = re.compile(rb"BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?|PuTTY-User-Key-File-\d")
_KEY_BOUNDARY: Final = re.compile(rb"(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY")
_MAX_KEY_BYTES: Final = 20_000
"""Maximum length of a private key. One of 16,384 bits has 13,000 bytes."""

_ENCODED_LENGTH: Final = 32
_ENCODED: Final = re.compile(rb"[A-Za-z0-9+/=]{%d,}" % _ENCODED_LENGTH)
# Does not match the letter of an escaped line end (`\n`): masking it would invalidate the string literal.
_ENCODED_PIECE: Final = re.compile(rb"(?:(?<!\\)|(?<=\\[nr]))[A-Za-z0-9+/=]{2,}")
_VISIBLE: Final = re.compile(rb"[!-~]")

Span = tuple[int, int]


def mask_secrets(data: bytes) -> bytes:
    """Replace the characters of keys and tokens by dots, so that all other bytes keep their offsets."""
    runs = _long_runs(data)
    if not runs:
        return data
    spans = [*_find_tokens(data, runs), *_find_private_keys(data, runs)]
    if not spans:
        return data
    masked = bytearray(data)
    for start, end in spans:
        masked[start:end] = b"." * (end - start)
    return bytes(masked)


def _long_runs(data: bytes) -> list[Span]:
    """Return the long runs of token characters that may be random: with a digit, or in capitals.

    One key in 500 has no digit and is missed.
    """
    runs: list[Span] = []
    shape = data.translate(_SHAPE)
    start = shape.find(_LONG_RUN)
    while start >= 0:
        end = shape.find(b" ", start)
        end = end if end >= 0 else len(data)
        if end - start <= _MAX_LENGTH and (_DIGIT.search(data, start, end) or data[start:end].isupper()):
            runs.append((start, end))
        start = shape.find(_LONG_RUN, end)
    return runs


def _find_tokens(data: bytes, runs: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans of the tokens that the rules find around runs with a marker."""
    checked = 0
    for start, end in _runs_with_marker(data, runs):
        if end <= checked:
            continue
        first = max(data.rfind(b"\n", 0, start) + 1, start - _CONTEXT)
        stop = data.find(b"\n", end, end + _CONTEXT)
        # A long token may cross the end of the context; the rules must see it whole, or its tail would stay.
        checked = stop if stop >= 0 else _token_end(data, min(len(data), end + _CONTEXT))
        # Latin-1 gives one character for each byte, so offsets in the text are offsets in the data.
        for low, high in _apply_rules(data[first:checked].decode("latin-1")):
            yield first + low, first + high


def _token_end(data: bytes, position: int) -> int:
    """Return the end of the token characters that follow a position, within the length of the longest token."""
    match = _TOKEN_TAIL.match(data, position, position + _MAX_LENGTH)
    return match.end() if match else position


def _runs_with_marker(data: bytes, runs: Sequence[Span]) -> Iterator[Span]:
    # One search over all runs first: nearly all files contain no marker at all.
    joined = b" ".join([data[max(0, start - _MARKER_REACH) : end] for start, end in runs])
    marker = _MARKERS.search(joined) is not None
    aws = any(end - start >= _AWS_KEY_LENGTH for start, end in runs) and _AWS_NAME in data.lower()
    for start, end in runs if marker or aws else ():
        if (marker and _has_marker(data, start, end)) or (aws and _is_aws_key(data, start, end)):
            yield start, end


def _has_marker(data: bytes, start: int, end: int) -> bool:
    part = data[max(0, start - _MARKER_REACH) : end + _CONTEXT]
    return any(_FORMATS[match.group()].match(part, match.end()) for match in _MARKERS.finditer(part))


def _is_aws_key(data: bytes, start: int, end: int) -> bool:
    before = data[max(0, start - _AWS_NAME_REACH) : end].lower()
    return _AWS_NAME in before and _AWS_KEY.search(data, start, end) is not None


def _apply_rules(text: str) -> Iterator[Span]:
    """Yield the spans of the tokens in a text."""
    for rule in _rules_with_marker():
        # Some rules check more than their patterns. Only the values that they report count, but they have no offsets.
        values = set(rule.analyze_string(text))
        for pattern in rule.denylist if values else ():
            for match in pattern.finditer(text):
                if not values.isdisjoint((match.group(), *match.groups(""))):
                    yield _token_span(text, match)


def _token_span(text: str, match: re.Match[str]) -> Span:
    """Return the whole token of a match. Patterns may include text before it, and may stop before its end."""
    groups = [match.span(number) for number in range(1, match.re.groups + 1)]
    span = max([group for group in groups if _length(group) >= _MIN_LENGTH], key=_length, default=match.span())
    start, _ = max((run.span() for run in _TOKENS.finditer(text, *span)), key=_length, default=span)
    run = _TOKENS.match(text, start)
    return run.span() if run else span


def _length(span: Span) -> int:
    return span[1] - span[0]


def _find_private_keys(data: bytes, runs: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans of the encoded lines of private keys.

    A header whose following text is mostly not encoded is skipped: that is code which reads keys.
    """
    if not any(end - start >= _ENCODED_LENGTH for start, end in runs) or not any(key in data for key in _KEY_HEADERS):
        return
    for header in _KEY_HEADER.finditer(data):
        limit = header.end() + _MAX_KEY_BYTES
        boundary = _KEY_BOUNDARY.search(data, header.end(), limit)
        body = data[header.end() : boundary.start() if boundary else limit]
        if 2 * sum(map(len, _ENCODED.findall(body))) >= len(_VISIBLE.findall(body)):
            for piece in _ENCODED_PIECE.finditer(body):
                yield header.end() + piece.start(), header.end() + piece.end()


@cache
def _rules_with_marker() -> tuple[Any, ...]:
    return tuple(rule for name, rule in load_rules().items() if name not in RULES_WITHOUT_MARKER | {PRIVATE_KEY_RULE})


@cache
def load_rules() -> dict[str, Any]:
    """Return all rules of the library by the names of their classes. Slow at the first call."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    by_type: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return {rule.__name__: rule() for rule in by_type.values()}
