"""Whether a text holds a key or a token, by the rules of detect-secrets. Nothing is verified over the network.

Its rules for single kinds of keys count as they are. Its rule for values assigned to names like `password` counts where
the value also looks random: a document may well show how a password is set.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from gitmem.credentials import load_rules
from gitmem.errors import UsageError

_ASSIGNED: Final = "KeywordDetector"
_RANDOM: Final = "Base64HighEntropyString"
_TOO_BROAD: Final = frozenset({_ASSIGNED, _RANDOM, "HexHighEntropyString", "IPPublicDetector"})
_LEAST_ENTROPY: Final = 3.5
"""Bits a character. Random keys of 20 characters have 3.9 and more, words joined by dashes some 3.4."""

_LEAST_LENGTH: Final = 20
_POSSIBLE: Final = re.compile(r"PRIVATE KEY|://[^/\s]*@|(?=[\w+/=.-]*\d)[\w+/=.-]{13}|[\w+/=.-]{20}")
"""No rule matches a text without one of these: plain sentences need not load the rules, a tenth of a second."""

_PIECE: Final = 4000
_OVERLAP: Final = 2000
"""Characters of a long line that rules see at once, and of these that the next ones hold again: some rules take time by
the square of a line's length. A web token is shorter."""

_PEM_BEGIN: Final = "-----BEGIN"
_PEM_END: Final = "-----END"
_HIDDEN: Final = "[secret left out]"


class Finding(NamedTuple):
    """A secret: the rule's own name for it, and its line (from 1)."""

    kind: str
    line: int


def refuse_secrets(text: str, what: str, fields: object = ()) -> None:
    """Raise UsageError where a text or the fields beside it (texts, lists and mappings of them) hold a secret.

    The message says what kind and where, never the secret.
    """
    for told, place in ((text, ", line {}"), ("\n".join(_texts(fields)), " in its fields")):
        found = next(find_secrets(told), None)
        if found is not None:
            raise UsageError(
                f"the {what} seems to hold a secret ({found.kind}{place.format(found.line)}), so it was not kept",
                hint="take it out; on the command line, --allow-secrets keeps it all the same",
            )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (f"{name}={told}" for name, told in value.items())
    elif isinstance(value, Iterable):
        for part in value:
            yield from _texts(part)


def leave_out_secrets(text: str) -> str:
    """A text whose lines that hold a secret say so instead; of a private key, all lines to its end."""
    lines = text.splitlines(keepends=True)
    for finding in find_secrets(text):
        for place in range(finding.line - 1, _last_line(lines, finding.line - 1) + 1):
            ending = lines[place][len(lines[place].rstrip("\r\n")) :]
            lines[place] = _HIDDEN + ending
    return "".join(lines)


def _last_line(lines: Sequence[str], first: int) -> int:
    if _PEM_BEGIN not in lines[first]:
        return first
    ends = (place for place in range(first, len(lines)) if _PEM_END in lines[place])
    return next(ends, len(lines) - 1)


def find_secrets(text: str) -> Iterator[Finding]:
    """Every secret, in the order of lines."""
    if not _POSSIBLE.search(text):
        return
    rules = _load_rules()
    pieces = [
        (number, piece)
        for number, line in enumerate(text.splitlines(), 1)
        for piece in _pieces(line)
        if _POSSIBLE.search(piece)
    ]
    joined = "\n".join(piece for _, piece in pieces)
    exact = [rule for rule in rules.exact if next(rule.analyze_string(joined), None)]  # a rule at a time is quicker
    for number, piece in pieces:
        for rule in exact:
            if next(rule.analyze_string(piece), None):
                yield Finding(rule.secret_type, number)
        if rules.names.search(piece) and _is_assigned(rules, piece):
            yield Finding(rules.assigned.secret_type, number)


def _pieces(line: str) -> Iterator[str]:
    """A line, or parts of a long one that overlap."""
    for start in range(0, max(1, len(line) - _OVERLAP), _PIECE - _OVERLAP):
        yield line[start : start + _PIECE]


def _is_assigned(rules: "_Rules", line: str) -> bool:
    """Whether a value that looks random stands behind a telling name, in quotes or as in a configuration file."""
    found = {*rules.assigned.analyze_string(line), *rules.assigned.analyze_string(line, rules.unquoted)}
    return any(
        len(value) >= _LEAST_LENGTH
        and any(char.isdigit() for char in value)
        and not any(char.isspace() for char in value)
        and rules.random.calculate_shannon_entropy(value) >= _LEAST_ENTROPY
        for value in found
    )


class _Rules(NamedTuple):
    exact: tuple[Any, ...]
    assigned: Any
    names: re.Pattern[str]
    unquoted: Any
    random: Any


@cache
def _load_rules() -> _Rules:
    known = load_rules()
    from detect_secrets.plugins.keyword import CONFIG_DENYLIST_REGEX_TO_GROUP, DENYLIST

    names = re.compile("|".join(DENYLIST), re.IGNORECASE)
    exact = tuple(known[name] for name in sorted(known.keys() - _TOO_BROAD))
    return _Rules(exact, known[_ASSIGNED], names, CONFIG_DENYLIST_REGEX_TO_GROUP, known[_RANDOM])
