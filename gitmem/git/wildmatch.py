"""Patterns of `.gitignore` and `.gitattributes` files, as git matches them, compiled to regular expressions.

A star takes the shortest text that lets the next literal match and never comes back to it (an atomic group), which is
enough for globs and keeps hostile patterns from taking exponential time. Matching is by bytes and by case everywhere,
whatever `core.ignoreCase` says: an index means the same on every machine.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

SPECIAL: Final = re.compile(rb"[*?\[\\]")
NOT_SLASH: Final = b"[^/]"
STAR: Final = b"*"
DEEP: Final = b"**/"
ANY: Final = b"**"
SLASH: Final = b"/"
FOLDERS: Final = b"(?:[^/]*/)*"

CLASSES: Final = {
    b"alnum": bytes(c for c in range(128) if chr(c).isalnum()),
    b"alpha": bytes(c for c in range(128) if chr(c).isalpha()),
    b"blank": b" \t",
    b"cntrl": bytes([*range(32), 127]),
    b"digit": b"0123456789",
    b"graph": bytes(range(33, 127)),
    b"lower": bytes(range(97, 123)),
    b"print": bytes(range(32, 127)),
    b"punct": bytes(c for c in range(33, 127) if not chr(c).isalnum()),
    b"space": b" \t\n\r\v\f",
    b"upper": bytes(range(65, 91)),
    b"xdigit": b"0123456789abcdefABCDEF",
}


class Glob(NamedTuple):
    """One pattern. It is asked for the name alone when `name_only`, else for the path below the file it stands in."""

    source: bytes
    negated: bool
    folders_only: bool
    name_only: bool
    literal: bool
    match: Callable[[bytes], object]


def parse_glob(text: bytes) -> Glob | None:
    """Compile a pattern; None where it can match nothing."""
    negated = text.startswith(b"!")
    source = text[1:] if negated else text
    folders_only = source.endswith(b"/")
    source = source.removesuffix(b"/")
    if not source:
        return None
    name_only = b"/" not in source
    source = source if name_only else source.removeprefix(b"/")
    if not SPECIAL.search(source):
        return Glob(source, negated, folders_only, name_only, True, source.__eq__)
    expression = translate(source)
    if expression is None:
        return None
    return Glob(source, negated, folders_only, name_only, False, re.compile(expression, re.DOTALL).fullmatch)


def translate(pattern: bytes) -> bytes | None:
    """Regular expression for a whole path; None for a pattern that is malformed and therefore matches nothing.

    git compares everything before the first special character by itself, so what follows stands like at a start:
    `foo**/bar` matches `foo-1/x/bar`.
    """
    special = SPECIAL.search(pattern)
    start = special.start() if special else len(pattern)
    tokens = _tokens(pattern[start:])
    return None if tokens is None else re.escape(pattern[:start]) + _expression(tokens)


def _tokens(pattern: bytes) -> list[bytes] | None:
    """STAR, DEEP, ANY, SLASH, or an expression that matches one byte."""
    tokens: list[bytes] = []
    at = 0
    while at < len(pattern):
        char = pattern[at : at + 1]
        if char == b"*":
            token, at = _stars(pattern, at)
        elif char == b"?":
            token, at = NOT_SLASH, at + 1
        elif char == b"[":
            bracket = _bracket(pattern, at + 1)
            if bracket is None:
                return None
            token, at = bracket
        else:
            at += char == b"\\"
            if at == len(pattern):
                return None
            token, at = _literal(pattern[at : at + 1]), at + 1
        tokens.append(token)
    return tokens


def _literal(char: bytes) -> bytes:
    return SLASH if char == b"/" else re.escape(char)


def _stars(pattern: bytes, at: int) -> tuple[bytes, int]:
    end = at
    while pattern[end : end + 1] == b"*":
        end += 1
    whole = at == 0 or pattern[at - 1 : at] == b"/"
    if end - at == 1 or not whole:
        return STAR, end
    if pattern[end : end + 1] == b"/":
        return DEEP, end + 1
    return (ANY, end) if end == len(pattern) or pattern[end : end + 2] == b"\\/" else (STAR, end)


def _bracket(pattern: bytes, at: int) -> tuple[bytes, int] | None:
    """The class that begins behind `[`, and where the pattern goes on; None where it is malformed."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    chars: set[int] = set()
    before = 0
    first = True
    while first or pattern[at : at + 1] != b"]":
        first = False
        if at >= len(pattern):
            return None
        char = pattern[at]
        if char == 0x5C:  # backslash
            at += 1
            if at >= len(pattern):
                return None
            char = pattern[at]
            chars.add(char)
        elif char == 0x2D and before and at + 1 < len(pattern) and pattern[at + 1] != 0x5D:  # a range
            at += 1
            at += pattern[at] == 0x5C
            if at >= len(pattern):
                return None
            chars.update(range(before, pattern[at] + 1))
            char = 0
        elif pattern[at : at + 2] == b"[:":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                return None
            if end > at + 2 and pattern[end - 1] == 0x3A:
                named = CLASSES.get(pattern[at + 2 : end - 1])
                if named is None:
                    return None
                chars.update(named)
                at, char = end, 0
            else:
                chars.add(char)
        else:
            chars.add(char)
        before = char
        at += 1
    chosen = (set(range(256)) - chars if negated else chars) - {0x2F}
    return b"[" + b"".join(b"\\x%02x" % c for c in sorted(chosen)) + b"]" if chosen else b"(?!)", at + 1


def _expression(tokens: list[bytes]) -> bytes:
    """Join tokens: between two wildcards over folders, the first place that fits is taken for good."""
    out = b""
    lead = b""
    run: list[bytes] = []
    for token in tokens:
        if token not in (DEEP, ANY):
            run.append(token)
            continue
        out += _joined(lead, run, last=False)
        lead = FOLDERS if token == DEEP else b".*"
        run = []
    return out + _joined(lead, run, last=True)


def _joined(lead: bytes, run: list[bytes], *, last: bool) -> bytes:
    if not lead:
        return _run(run)
    if not last:
        return b"(?>" + lead + b"?" + _run(run) + b")"
    if lead == FOLDERS:  # the rest has a known number of folders, so there is one place where it can begin
        lead = b"(?>" + lead + b"(?=(?:[^/]*/){%d}[^/]*\\Z))" % run.count(SLASH)
    return lead + _run(run)


def _run(tokens: list[bytes]) -> bytes:
    """Expression for a piece whose stars stay within one folder or name."""
    out = b""
    since_star: bytes | None = None
    for token in [*tokens, SLASH]:
        if token == STAR and since_star is None:
            since_star = b""
        elif token == STAR and since_star is not None:
            out += b"(?>[^/]*?" + since_star + b")"
            since_star = b""
        elif token == SLASH:
            out += b"/" if since_star is None else b"[^/]*" + since_star + b"/"
            since_star = None
        elif since_star is None:
            out += token
        else:
            since_star += token
    return out[:-1]
