"""Give each row a role: that of its path, or one that its content shows. Pure.

Tests inside of other code have no path of their own, generated code may have any path, and not all files with a word
for tests in their names are tests.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, distinct_with_places
from gitmem.search.path_roles import ROLES, path_role, role_without_tests

_TEST: Final = ROLES.index("test")
_AUXILIARY: Final = ROLES.index("auxiliary")
_NO_ROLE: Final = -1

_WITH_INNER_TESTS: Final = (".rs", ".zig")
"""Endings of files of languages in which tests stand beside the code, in a container named as below."""

_TEST_CONTAINERS: Final = frozenset(("test", "tests"))


_CODES: Final = {role: code for code, role in enumerate(ROLES)}


def find_roles(
    paths: Sequence[str],
    file: NDArray[np.int64],
    symbols: Sequence[str],
    is_generated: NDArray[np.bool_],
    may_test: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return the role of each row as an index into ROLES, -1 for plain code; `file` indexes `paths`."""
    roles = _codes_of(map(path_role, paths))[file]
    other = (roles == _TEST) & ~may_test
    if other.any():
        files, places = distinct_with_places(file[other])
        roles[other] = _codes_of(role_without_tests(paths[place]) for place in files.tolist())[places]
    plain = roles == _NO_ROLE
    roles[plain & is_generated] = _AUXILIARY
    inner = np.array([path.endswith(_WITH_INNER_TESTS) for path in paths], bool)[file]
    for row in np.flatnonzero(plain & inner).tolist():
        if is_inner_test(symbols[row]):
            roles[row] = _TEST
    return roles


def _codes_of(roles: Iterable[str]) -> NDArray[np.int64]:
    return np.array([_CODES.get(role, _NO_ROLE) for role in roles], np.int64)


def is_inner_test(symbol: str) -> bool:
    """Return whether a symbol of such a language is a container of tests, or in one; of several the first counts."""
    first, *others = symbol.partition(",")[0].split(".")
    return first in _TEST_CONTAINERS or not _TEST_CONTAINERS.isdisjoint(others[:-1])
