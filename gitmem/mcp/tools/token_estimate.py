"""Upper estimate of the tokens of a text, without a model's vocabulary. Pure.

A token is assumed for each three letters, each two digits and each other character. Measured on code and prose in many
languages, the result is above the count of cl100k, so an answer is never longer than promised.
"""

import re
from typing import Final

MAX_TOKENS: Final = 10_000
"""Tokens of an answer: above this Claude Code warns, and other clients truncate."""

MAX_VALUE_TOKENS: Final = MAX_TOKENS - 1000
"""Tokens of the values in a JSON answer; the rest is for the fields around them."""

_MAX_ESTIMATED_CHARACTERS: Final = 40 * MAX_TOKENS
"""Longer texts exceed MAX_TOKENS in any case: the estimate allows at most 16 characters for one token."""

_RUN: Final = re.compile(r"(?P<letters>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<blank>[ \n]+)|(?P<other>[^A-Za-z0-9 \n]+)")


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a text; MAX_TOKENS for one that is far too long."""
    if len(text) > _MAX_ESTIMATED_CHARACTERS:
        return MAX_TOKENS
    total = 0
    for run in _RUN.finditer(text):
        size = run.end() - run.start()
        group = run.lastgroup
        if group == "letters":
            total += -(-size // 3)
        elif group == "digits":
            total += -(-size // 2)
        elif group == "blank":  # a single space belongs to the word after it
            total += 0 if size == 1 and run.group() == " " else 1 + size // 16
        else:  # a character outside ASCII has at most one token per byte
            total += size if run.group().isascii() else len(run.group().encode("utf-8", "surrogatepass"))
    return total
