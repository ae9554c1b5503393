"""A small ledger: accounts, entries and their balance."""

from __future__ import annotations

import functools
from dataclasses import dataclass

CURRENCY = "EUR"
ROUNDING = 2


class LedgerError(Exception):
    """Raised when an entry cannot be booked."""


@dataclass(frozen=True)
class Entry:
    """One booking."""

    account: str
    amount: int

    @property
    def is_debit(self) -> bool:
        return self.amount < 0

    class Meta:
        ordering = ("account",)

        def describe(self) -> str:
            return "entry " + ", ".join(self.ordering)


# Memoised, because reports ask again and again.
@functools.cache
def parse_amount(text: str) -> int:
    """Read `12.50` as 1250."""
    whole, _, cents = text.partition(".")
    return int(whole) * 100 + int((cents + "00")[:2])


async def sync(entries: list[Entry]) -> int:
    booked = 0
    for entry in entries:
        booked += entry.amount
    return booked


if CURRENCY == "EUR":

    def symbol() -> str:
        return "\u20ac"

else:

    def symbol() -> str:
        return "?"


if __name__ == "__main__":
    print(parse_amount("3.20"))
