"""Load the rules, and decide whether a match of one is a secret: by its entropy and the allow-lists."""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from math import log2
from pathlib import Path
from typing import Any, Final

from gitmem.named_tuple import NamedTuple
from gitmem.secrets.own_rules import OWN_ALLOWED, OWN_RULES

_LEFT_OUT: Final = frozenset({"private-key", "hashicorp-tf-password"})
"""Private keys have a module of their own. The other matches any `password = "..."` outside of Terraform's files."""

_NAME_LENGTH: Final = 50
_LINE_REACH: Final = 1000
_NAME_AND_OPERATOR: Final = re.compile(rb"[\w.\s'\"-]*[=>:|?,]")
"""Beginning of each match of a rule that starts at its keyword."""

_NAMES: Final = re.compile(r"\(\?i:\[\\w\.-\]\{0,50\}\?\(\?:([a-z|]+)\)\(\?:\[ ")
"""Beginning of a rule for names that are not its keywords."""

_OPENING: Final = re.compile(r"(?:\\b|\(\?i?:|\((?!\?))*")
_NAME_END: Final = re.compile(rb"[\w.-]*\Z")


class Allowed(NamedTuple):
    """Allow-list: a match is no secret if its `target` (secret, match or line) has a pattern or word."""

    target: str
    patterns: Sequence[re.Pattern[bytes]]
    words: Sequence[bytes]

    def permits(self, texts: Mapping[str, bytes]) -> bool:
        """Return whether a match is listed; `texts` are its texts by target."""
        # A pattern for the whole match may take a millisecond, all words together a tenth of it.
        secret = texts["secret"].lower()
        if any(map(secret.__contains__, self.words)):
            return True
        text = texts[self.target]
        return any(pattern.search(text) for pattern in self.patterns)


class Rule:
    """Rule for one kind of secret. Its patterns are compiled when they are first needed."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.id: str = values["id"]
        self.keywords: Sequence[bytes] = [word.encode() for word in values["keywords"]]
        self.starts_at_keyword: bool = values["starts_at_keyword"]
        self.needs: bytes = values.get("needs", "").encode()
        """Text that every match has behind the keyword; most addresses have no `@`, and looking for it is cheap."""

        self._values = values

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Pattern for bytes: `\\w` and `\\s` are ASCII, as in RE2."""
        return re.compile(self._values["pattern"].encode())

    def match_name(self, data: bytes, position: int, stop: int) -> re.Match[bytes] | None:
        """Return the match of a rule that starts at its keyword, which is part of the name of the value."""
        # Most names are followed by neither `=` nor another operator. The patterns would notice it much later.
        return self.pattern.match(data, position, stop) if _NAME_AND_OPERATOR.match(data, position, stop) else None

    def may_match(self, data: bytes, first: int, position: int, stop: int, positions: Sequence[int]) -> bool:
        """Return False if a rule certainly has no match between `first` and `stop`.

        `position` is the first place of its keyword there, one of `positions`.
        """
        if self.needs and data.find(self.needs, position, stop) < 0:
            return False
        if self._names and not any(map(data[first:stop].lower().__contains__, self._names)):
            return False
        if not self._begins_with_keyword:
            return True
        places = positions[bisect_left(positions, position) : bisect_left(positions, stop)]
        return any(self.pattern.match(data, place, stop) for place in places)

    @cached_property
    def _names(self) -> Sequence[bytes]:
        """Names of the value, of which each match has one, in lower case; nothing if the rule has none or others."""
        named = _NAMES.match(self._values["pattern"])
        return [name.encode() for name in named[1].split("|")] if named else []

    @cached_property
    def _begins_with_keyword(self) -> bool:
        return begins_with(self._values["pattern"], self._values["keywords"])

    @cached_property
    def _allowed(self) -> Sequence[Allowed]:
        own = [OWN_ALLOWED[self.id]] if self.id in OWN_ALLOWED else []
        return [_load_allowed(values) for values in (*self._values["allowed"], *own)]

    def find_value(self, data: bytes, match: re.Match[bytes]) -> tuple[int, int] | None:
        """Return the span of the secret in a match, or None if the match is not a secret."""
        start, end = _value_span(match, self._values["group"])
        secret = data[start:end]
        if _entropy(secret) < self._values["entropy"]:
            return None
        if any(allowed.permits({"secret": secret}) for allowed in self._allowed if allowed.target == "secret"):
            return None
        name = _NAME_END.search(data, max(0, match.start() - _NAME_LENGTH), match.start())
        first = name.start() if name and self.starts_at_keyword else match.start()
        reach = match.end() + _LINE_REACH
        line_end = data.find(b"\n", match.end(), reach)
        texts = {
            "secret": secret,
            "match": data[first : match.end()],
            "line": data[
                data.rfind(b"\n", max(0, first - _LINE_REACH), first) + 1 : line_end if line_end >= 0 else reach
            ],
        }
        return None if _is_listed(self, **texts) else (start, end)

    def lists(self, texts: Mapping[str, bytes]) -> bool:
        """Return whether an allow-list, of this rule or of all, has a match."""
        return any(allowed.permits(texts) for allowed in (*load_rules().allowed(), *self._allowed))


class Rules(NamedTuple):
    """All rules by keyword, and the allow-list of all, whose patterns are compiled when a rule matches."""

    by_keyword: Mapping[bytes, Sequence[Rule]]
    allowed: Callable[[], Sequence[Allowed]]


@cache
def load_rules() -> Rules:
    """Return the rules; the first call reads their file."""
    listed = json.loads((Path(__file__).parent / "gitleaks_rules.json").read_bytes())
    by_keyword: dict[bytes, list[Rule]] = {}
    for values in (*listed["rules"], *OWN_RULES):
        if values["id"] not in _LEFT_OUT:
            rule = Rule(values)
            for keyword in rule.keywords:
                by_keyword.setdefault(keyword, []).append(rule)
    return Rules(by_keyword, cache(lambda: [_load_allowed({"target": "secret", **listed["allowed"]})]))


@lru_cache(maxsize=256)
def _is_listed(rule: Rule, *, secret: bytes, match: bytes, line: bytes) -> bool:
    """Call `Rule.lists`, once for a match that several keywords find. It may take a millisecond."""
    return rule.lists({"secret": secret, "match": match, "line": line})


def begins_with(pattern: str, keywords: Sequence[str]) -> bool:
    """Return whether each match of a pattern begins with a keyword, in letters of either case.

    True only if that is plain to see: each alternative of the groups that open the pattern begins with one.
    """
    opening = _OPENING.match(pattern)
    assert opening is not None
    literals = [keyword.replace(".", r"\.") for keyword in keywords]
    depth, lowest, begins, position = 0, 0, True, opening.end()
    while position < len(pattern):
        if begins:
            rest = pattern[position:].lower()
            literal = next((literal for literal in literals if rest.startswith(literal)), None)
            if literal is None or rest[len(literal) : len(literal) + 1] in tuple("?*+{"):
                return False
        char, begins = pattern[position], False
        if char == "\\":
            position += 1
        elif char == "[":
            position = pattern.index("]", position + 2)
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < lowest and pattern[position + 1 : position + 2] in tuple("?*{"):
                return False
            lowest = min(lowest, depth)
        begins = char == "|" and depth == lowest
        position += 1
    return True


def _load_allowed(values: Mapping[str, Any]) -> Allowed:
    patterns = [re.compile(pattern.encode()) for pattern in values["patterns"]]
    return Allowed(values["target"], patterns, [word.lower().encode() for word in values["words"]])


def _value_span(match: re.Match[bytes], group: int) -> tuple[int, int]:
    """Return the span of the rule's group, else of the first group with text, else of the match."""
    if group:
        return match.span(group)
    spans = (match.span(number) for number in range(1, match.re.groups + 1))
    return next((span for span in spans if span[1] > span[0]), match.span())


def _entropy(text: bytes) -> float:
    """Return the Shannon entropy in bits per byte."""
    length = len(text)
    return sum(-count / length * log2(count / length) for count in Counter(text).values())
