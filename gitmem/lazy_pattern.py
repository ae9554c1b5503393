"""Regular expressions that are compiled at their first use. A query compiles a few of the many that it imports."""

import re
from typing import Any, AnyStr, Final, cast

_METHODS: Final = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern like that of `re.compile`, whose methods compile it when the first one is called.

    Call its methods: functions of `re` take only instances of `re.Pattern`. An invalid source
    raises re.PatternError at the first use.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(source, flags))


def line_pattern(source: bytes) -> re.Pattern[bytes]:
    """Return a lazy pattern for the beginning of a line, behind blanks.

    It begins with a line feed, which is found faster than `^` is: search it in bytes that begin with one.
    """
    return lazy_pattern(rb"\n[ \t]*+(?:" + source + rb")")


class _LazyPattern:
    """Source of a pattern. Once it is compiled, its methods are those of the pattern, at no cost."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)  # asked by `copy` and `pickle`, before the source is set
        pattern = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(pattern, method))
        return getattr(pattern, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _LazyPattern, (self._source, self._flags)
