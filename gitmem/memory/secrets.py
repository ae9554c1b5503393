"""Find keys and tokens in texts by the rules of detect-secrets. Nothing is verified over the network.

Rules for the format of one kind of key count as they are. The rule for values assigned to names like `password` counts
only if the value also looks random: a document may well show how a password is set.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from gitmem.credentials import load_rules
from gitmem.errors import UsageError

_ASSIGNMENT: Final = "KeywordDetector"
_ENTROPY: Final = "Base64HighEntropyString"
_TOO_BROAD: Final = frozenset({_ASSIGNMENT, _ENTROPY, "HexHighEntropyString", "IPPublicDetector"})
"""Rules that match ordinary text, such as commit ids, and do not count by themselves."""

_MIN_ENTROPY: Final = 3.5
"""Bits per character. Random keys of 20 characters have 3.9 and more, words joined by dashes some 3.4."""

_MIN_LENGTH: Final = 20
_CANDIDATE: Final = re.compile(r"PRIVATE KEY|://[^/\s]*@|(?=[\w+/=.-]*\d)[\w+/=.-]{13}|[\w+/=.-]{20}")
"""Necessary condition of every rule. Plain sentences do not meet it, and need not load the rules, which takes 0.1 s."""

_WINDOW: Final = 4000
_OVERLAP: Final = 2000
"""Characters of a long line that the rules get at once, and of these the characters shared with the next window. Some
rules take time quadratic in the length of a line. A web token is shorter than the overlap, so no secret is cut."""

_PEM_BEGIN: Final = "-----BEGIN"
_PEM_END: Final = "-----END"
_REDACTED: Final = "[secret left out]"


class Finding(NamedTuple):
    """Secret in a text: its kind as the rule calls it, and its line, counted from 1."""

    kind: str
    line: int


def refuse_secrets(text: str, subject: str, fields: object = ()) -> None:
    """Raise UsageError if a text, or the fields stored with it, contain a secret.

    `fields` are texts, lists and mappings of them. The message has the kind and the place, never the secret.
    """
    for searched, place in ((text, ", line {}"), ("\n".join(_flatten(fields)), " in its fields")):
        finding = next(find_secrets(searched), None)
        if finding is not None:
            raise UsageError(
                f"the {subject} seems to contain a secret ({finding.kind}{place.format(finding.line)}); "
                "it was not stored",
                hint="remove the secret; on the command line, --allow-secrets stores it nevertheless",
            )


def _flatten(value: object) -> Iterator[str]:
    """Yield the texts of nested fields; those of mappings as `name=value`, since rules look at the name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (f"{name}={text}" for name, text in value.items())
    elif isinstance(value, Iterable):
        for part in value:
            yield from _flatten(part)


def redact_secrets(text: str) -> str:
    """Replace each line with a secret by a fixed text; of a private key, all lines to its end."""
    lines = text.splitlines(keepends=True)
    for finding in find_secrets(text):
        # The rules find only the first line of a private key.
        for index in range(finding.line - 1, _last_line(lines, finding.line - 1) + 1):
            line_end = lines[index][len(lines[index].rstrip("\r\n")) :]
            lines[index] = _REDACTED + line_end
    return "".join(lines)


def _last_line(lines: Sequence[str], first: int) -> int:
    """Return the last line of a secret that begins on a line: that of the key's end, or of the text without one."""
    if _PEM_BEGIN not in lines[first]:
        return first
    ends = (index for index in range(first, len(lines)) if _PEM_END in lines[index])
    return next(ends, len(lines) - 1)


def find_secrets(text: str) -> Iterator[Finding]:
    """Yield every secret, in the order of lines."""
    if not _CANDIDATE.search(text):
        return
    rules = _load_rules()
    windows = [
        (number, window)
        for number, line in enumerate(text.splitlines(), 1)
        for window in _split_line(line)
        if _CANDIDATE.search(window)
    ]
    # Two passes: few rules match anything, so each one is first run over all windows at once, which is quicker than
    # running every rule on every window.
    joined = "\n".join(window for _, window in windows)
    matching = [rule for rule in rules.formats if next(rule.analyze_string(joined), None)]
    for number, window in windows:
        for rule in matching:
            if next(rule.analyze_string(window), None):
                yield Finding(rule.secret_type, number)
        if rules.names.search(window) and _has_random_value(rules, window):
            yield Finding(rules.assignment.secret_type, number)


def _split_line(line: str) -> Iterator[str]:
    """Yield a line, or overlapping windows of a long one."""
    for start in range(0, max(1, len(line) - _OVERLAP), _WINDOW - _OVERLAP):
        yield line[start : start + _WINDOW]


def _has_random_value(rules: "_Rules", line: str) -> bool:
    """Return whether a line assigns a random-looking value to a suspicious name, with quotes or without."""
    values = {*rules.assignment.analyze_string(line), *rules.assignment.analyze_string(line, rules.unquoted)}
    return any(
        len(value) >= _MIN_LENGTH
        and any(char.isdigit() for char in value)
        and not any(char.isspace() for char in value)
        and rules.entropy.calculate_shannon_entropy(value) >= _MIN_ENTROPY
        for value in values
    )


class _Rules(NamedTuple):
    """Rules of the library: those for formats of keys, that for assignments with its patterns, and the entropy."""

    formats: tuple[Any, ...]
    assignment: Any
    names: re.Pattern[str]
    unquoted: Any
    entropy: Any


@cache
def _load_rules() -> _Rules:
    known = load_rules()
    # Imported here, like the rules: detect-secrets takes 0.1 s to import, and plain texts do not need it.
    from detect_secrets.plugins.keyword import CONFIG_DENYLIST_REGEX_TO_GROUP, DENYLIST

    names = re.compile("|".join(DENYLIST), re.IGNORECASE)
    formats = tuple(known[name] for name in sorted(known.keys() - _TOO_BROAD))
    return _Rules(formats, known[_ASSIGNMENT], names, CONFIG_DENYLIST_REGEX_TO_GROUP, known[_ENTROPY])
