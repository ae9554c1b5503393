"""Glob patterns of `.gitignore` and `.gitattributes` syntax, matched as git does, compiled to regular expressions.

Matching is by bytes and case-sensitive everywhere, regardless of `core.ignoreCase`: an index means the same on every
machine. Matching time is polynomial in the lengths of pattern and path, so patterns from an untrusted repository or
query are harmless.

Syntax: gitignore(5). Semantics: git's `wildmatch.c` (with WM_PATHNAME) and `dir.c`.
"""

# The textbook translation of `*` to `[^/]*` backtracks exponentially: `*a*a*a*b` tries every way to share out the `a`s.
# A glob needs no such backtracking. Once `*x` has matched, a later place for the `x` cannot help, because the next star
# can absorb whatever lies between; so every star commits to the leftmost match of its literal, here by an atomic group
# `(?>...)`. See Russ Cox, "Glob Matching Can Be Simple And Fast Too" (2017), https://research.swtch.com/glob.
# Rejected: the two-pointer loop given there, because it runs per byte in Python, and a filter meets every path of a
# tree; and git's own recursive matcher, which is exponential with several `**`.

import re
from collections.abc import Callable
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

SPECIAL: Final = lazy_pattern(rb"[*?\[\\]")
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
"""POSIX classes, in ASCII only."""


class Glob(NamedTuple):
    """Compiled pattern. `match` takes the file name if `name_only`, else the path relative to the pattern's folder."""

    source: bytes
    negated: bool
    folders_only: bool
    name_only: bool
    literal: bool
    match: Callable[[bytes], object]


def parse_ignore_line(line: bytes) -> Glob | None:
    """Compile a line of an ignore file; None for a comment, an empty line or a malformed pattern."""
    return None if line.startswith(b"#") else parse_glob(_without_trailing_spaces(line))


def parse_glob(text: bytes) -> Glob | None:
    """Compile a pattern; None if it is empty or malformed, and therefore matches nothing."""
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
    """Return a regular expression for a whole path; None for a malformed pattern, which matches nothing in git."""
    # git compares the text before the first special character literally and runs its matcher on the rest only. For the
    # matcher the rest begins a path, so that `foo**/bar` is `foo` and `**/bar`: it matches `foo-1/x/bar`.
    special = SPECIAL.search(pattern)
    start = special.start() if special else len(pattern)
    tokens = _tokenise(pattern[start:])
    return None if tokens is None else re.escape(pattern[:start]) + _translate_tokens(tokens)


def translate_flat(pattern: bytes) -> bytes | None:
    """Return a regular expression for a whole path in which every wildcard also matches slashes; None if malformed.

    git matches pathspecs in this way (`wildmatch` without WM_PATHNAME).
    """
    tokens = _tokenise(pattern, flat=True)
    if tokens is None:
        return None
    parts: list[bytes] = []
    since_star: list[bytes] | None = None  # the literal behind the last star
    for token in tokens:
        if token != STAR:
            (parts if since_star is None else since_star).append(token)
            continue
        if since_star is not None:  # leftmost match: the new star absorbs the rest
            parts += [b"(?>.*?", *since_star, b")"]
        since_star = []
    return b"".join([*parts, *([] if since_star is None else [b".*", *since_star])])


def _without_trailing_spaces(line: bytes) -> bytes:
    """Return the line without its trailing spaces; one preceded by a backslash counts."""
    bare = line.rstrip(b" ")
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if backslashes % 2 and len(bare) < len(line) else bare


def _tokenise(pattern: bytes, *, flat: bool = False) -> list[bytes] | None:
    """Split into STAR, DEEP, ANY, SLASH and expressions that match one byte; None if the pattern is malformed.

    With `flat` there are no DEEP and ANY, and the expressions may match a slash.
    """
    tokens: list[bytes] = []
    at = 0
    while at < len(pattern):
        char = pattern[at : at + 1]
        if char == b"*":
            token, at = (STAR, at + 1) if flat else _parse_stars(pattern, at)
        elif char == b"?":
            token, at = b"." if flat else NOT_SLASH, at + 1
        elif char == b"[":
            bracket = _parse_bracket(pattern, at + 1, flat=flat)
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


def _parse_stars(pattern: bytes, at: int) -> tuple[bytes, int]:
    """Return the token for the run of stars at `at` and the position after it."""
    end = at
    while pattern[end : end + 1] == b"*":
        end += 1
    # Two or more stars cross folders only as a whole path component; `a**` and `**a` are plain stars.
    component = at == 0 or pattern[at - 1 : at] == b"/"
    if end - at == 1 or not component:
        return STAR, end
    if pattern[end : end + 1] == b"/":
        return DEEP, end + 1
    # `**\/` ends a component too, but git then does not let `**/` match zero folders.
    return (ANY, end) if end == len(pattern) or pattern[end : end + 2] == b"\\/" else (STAR, end)


def _parse_bracket(pattern: bytes, at: int, *, flat: bool = False) -> tuple[bytes, int] | None:
    """Return the class that begins at `at`, behind its `[`, and the position after it; None if it is malformed.

    Only with `flat` may a class match a slash.
    """
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    chars: set[int] = set()
    before = 0  # the last single character, from which `-` may begin a range
    first = True  # a `]` at the first place is an ordinary character
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
    selected = set(range(256)) - chars if negated else chars
    if not flat:
        selected.discard(0x2F)  # no class matches a slash (WM_PATHNAME)
    return b"[" + b"".join(b"\\x%02x" % c for c in sorted(selected)) + b"]" if selected else b"(?!)", at + 1


def _translate_tokens(tokens: list[bytes]) -> bytes:
    """Translate runs of tokens between the wildcards over folders, each with the wildcard that precedes it."""
    parts: list[bytes] = []
    wildcard = b""
    run: list[bytes] = []
    for token in tokens:
        if token not in (DEEP, ANY):
            run.append(token)
            continue
        parts.append(_anchor_run(wildcard, run, last=False))
        wildcard = FOLDERS if token == DEEP else b".*"
        run = []
    return b"".join(parts) + _anchor_run(wildcard, run, last=True)


def _anchor_run(wildcard: bytes, run: list[bytes], *, last: bool) -> bytes:
    """Translate a run of tokens behind a wildcard over folders (empty for the first run)."""
    if not wildcard:
        return _translate_run(run)
    if not last:  # leftmost match, as for a star: the next wildcard absorbs the rest
        return b"(?>" + wildcard + b"?" + _translate_run(run) + b")"
    if wildcard == FOLDERS:
        # The last run must reach the end of the path. A token matches a slash or no slash, never either, so the number
        # of slashes in the run determines the one folder in which it can begin.
        wildcard = b"(?>" + wildcard + b"(?=(?:[^/]*/){%d}[^/]*\\Z))" % run.count(SLASH)
    return wildcard + _translate_run(run)


def _translate_run(tokens: list[bytes]) -> bytes:
    """Translate tokens whose stars stay within one path component.

    In each component, every star but the last commits to the leftmost match of the literal behind it. The last star is
    greedy, because its literal must end the component; it backtracks over at most one component.
    """
    parts: list[bytes] = []
    since_star: list[bytes] | None = None  # the literal behind the last star of this component
    for token in [*tokens, SLASH]:
        if token == STAR:
            if since_star is not None:
                parts += [b"(?>[^/]*?", *since_star, b")"]
            since_star = []
        elif token == SLASH:
            parts += [b"/"] if since_star is None else [b"[^/]*", *since_star, b"/"]
            since_star = None
        elif since_star is None:
            parts.append(token)
        else:
            since_star.append(token)
    return b"".join(parts)[:-1]
