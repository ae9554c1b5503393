"""Give each row a role: that of its path, or one that its content shows. Pure.

Tests inside of other code have no path of their own, and generated code may have any path.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.path_roles import ROLES, path_role

_TEST: Final = ROLES.index("test")
_AUXILIARY: Final = ROLES.index("auxiliary")
_NO_ROLE: Final = -1

_WITH_INNER_TESTS: Final = (".rs", ".zig")
"""Endings of files of languages in which tests stand beside the code, in a container named as below."""

_TEST_CONTAINERS: Final = frozenset(("test", "tests"))


def find_roles(
    paths: Sequence[str], file: NDArray[np.int64], symbols: Sequence[str], is_generated: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the role of each row as an index into ROLES, -1 for plain code; `file` indexes `paths`."""
    codes = {role: code for code, role in enumerate(ROLES)}
    roles = np.array([codes.get(path_role(path), _NO_ROLE) for path in paths], np.int64)[file]
    plain = roles == _NO_ROLE
    roles[plain & is_generated] = _AUXILIARY
    may_test = np.array([path.endswith(_WITH_INNER_TESTS) for path in paths], bool)[file]
    for row in np.flatnonzero(plain & may_test).tolist():
        if is_inner_test(symbols[row]):
            roles[row] = _TEST
    return roles


def is_inner_test(symbol: str) -> bool:
    """Return whether a symbol of such a language is a container of tests, or in one; of several the first counts."""
    first, *others = symbol.partition(",")[0].split(".")
    return first in _TEST_CONTAINERS or not _TEST_CONTAINERS.isdisjoint(others[:-1])
