"""The exit codes and the error tree."""

import re
from collections.abc import Iterator

from gitmem import errors
from gitmem.errors import ExitCode, GitmemError


def _subclasses(error: type[GitmemError]) -> Iterator[type[GitmemError]]:
    for subclass in error.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def test_exit_codes_keep_their_documented_numbers() -> None:
    documented = {"OK": 0, "NO_RESULTS": 1, "USAGE": 2, "NO_INDEX": 3, "BUSY": 4, "FAILED": 5, "INTERRUPTED": 130}
    assert {code.name: code.value for code in ExitCode} == documented


def test_the_drawn_tree_contains_every_error_with_its_exit_code_and_hint() -> None:
    lines = re.findall(r"^[ │├└─]*(\w+) +(\d) +(.*)$", errors.__doc__ or "", re.M)
    drawn = {name: (int(code), hint) for name, code, hint in lines}
    classes: list[type[GitmemError]] = [GitmemError, *_subclasses(GitmemError)]
    defined = {error.__name__: error for error in classes if error.__module__ == errors.__name__}
    assert drawn.keys() == defined.keys()
    for name, (code, hint) in drawn.items():
        assert code == defined[name].exit_code
        assert hint.startswith("caller") if not defined[name].hint else hint == defined[name].hint


def test_errors_of_a_single_module_are_like_the_error_that_they_refine() -> None:
    bases: list[type[GitmemError]] = [GitmemError, *_subclasses(GitmemError)]
    for base in bases:
        for error in base.__subclasses__():
            if error.__module__ != errors.__name__:
                assert (error.exit_code, error.hint) == (base.exit_code, base.hint), error


def test_an_error_has_the_hint_of_its_class_unless_the_caller_supplies_one() -> None:
    assert errors.NoIndex("no index").hint == "run `gitmem init`"
    assert errors.NoIndex("no index", hint="wait").hint == "wait"
    assert errors.NoIndex("no index", hint="").hint == ""
