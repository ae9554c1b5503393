"""How many tokens a text costs its reader, never told too low. Pure; no model's vocabulary is at hand here.

A run of letters is taken for a token every three, digits for one every two, any other character for one; measured on
code and prose of many languages this is above the cl100k count.
"""

import re
from typing import Final

MAX_TOKENS: Final = 10_000
"""Tokens of an answer: above them Claude Code warns, and other clients cut."""

MAX_VALUE_TOKENS: Final = MAX_TOKENS - 1000
"""Tokens for the values of an answer; the rest is for what stands around them."""

_HOPELESS: Final = 40 * MAX_TOKENS
"""A longer text has too many tokens, whatever it says: letters and blanks are 16 a token at most, but for escapes."""

_RUN: Final = re.compile(r"(?P<letters>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<blank>[ \n]+)|(?P<other>[^A-Za-z0-9 \n]+)")


def estimate_tokens(text: str) -> int:
    """Tokens of a text, rather too many than too few; of one that is far too long, MAX_TOKENS."""
    if len(text) > _HOPELESS:
        return MAX_TOKENS
    total = 0
    for run in _RUN.finditer(text):
        size = run.end() - run.start()
        kind = run.lastgroup
        if kind == "letters":
            total += -(-size // 3)
        elif kind == "digits":
            total += -(-size // 2)
        elif kind == "blank":
            total += 0 if size == 1 and run.group() == " " else 1 + size // 16
        else:
            total += size if run.group().isascii() else len(run.group().encode("utf-8", "surrogatepass"))
    return total
