"""Arguments of a call, checked against the tool's schema before anything runs. Pure.

Knows the few words of JSON Schema that `toolsets` uses, and says what is wrong so that the caller can mend it.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import chain
from typing import Any, Final

from gitmem.errors import UsageError

Json = Mapping[str, Any]
Arguments = Mapping[str, Any]
"""Of a call, checked."""

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_WORDS: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}


def check_arguments(schema: Json, given: Json) -> dict[str, Any]:
    """The arguments with defaults filled in; a lone string stands for a list of one where a list is meant.

    What was not given and has no default is empty: no text, false, an empty list or object, of numbers one below the
    least. Raises UsageError.
    """
    known = schema["properties"]
    for name in given:
        if name not in known:
            raise UsageError(f"there is no argument `{name[:80]}`", hint=_advice(name, known))
    for name in schema.get("required", ()):
        if given.get(name) is None:
            raise UsageError(f"the argument `{name}` is missing", hint=f"it is {_expected(known[name])}")
    return {name: _value(name, about, given.get(name)) for name, about in known.items()}


def _advice(name: str, known: Json) -> str:
    near = get_close_matches(name, known, 1)
    return f"did you mean `{near[0]}`?" if near else "arguments: " + ", ".join(known)


def _value(name: str, about: Json, value: Any) -> Any:
    if value is None:
        return about["default"] if "default" in about else _absent(about)
    if not _fits(about, value):
        raise UsageError(f"`{name}` must be {_expected(about)}, it is {_shown(value)}")
    if "properties" in about:
        return check_arguments(about, value)
    if _is_list(about):
        return (value,) if isinstance(value, str) else tuple(value)
    return value


def _absent(about: Json) -> Any:
    """What stands for an argument that was not given."""
    if "properties" in about:
        return check_arguments(about, {})
    if _is_list(about):
        return ()
    if "minimum" in about:
        return about["minimum"] - 1
    return {"boolean": False, "object": {}}.get(about.get("type", ""), "")


def _fits(about: Json, value: Any) -> bool:
    if "enum" in about:
        return value in about["enum"]
    if not any(_is_of(kind, value) for kind in _names(about)):
        return False
    if isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return bool(about.get("minimum", value) <= value <= about.get("maximum", value))
    if isinstance(value, list):
        return all(_is_text(item) for item in value) and _has_size(about, "Items", len(value))
    if isinstance(value, dict):
        pairs = () if "properties" in about else value.items()
        return all(map(_is_text, chain.from_iterable(pairs))) and _has_size(about, "Properties", len(value))
    return _is_text(value) and _has_size(about, "Length", len(str(value).strip()))


def _is_of(kind: str, value: Any) -> bool:
    """Whether a value is of a type; true and false are no numbers."""
    return isinstance(value, _TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")


def _names(about: Json) -> list[str]:
    """The types a value may have."""
    return [about["type"]] if isinstance(about["type"], str) else list(about["type"])


def _is_text(value: Any) -> bool:
    """Whether it is a string that git, a file name and an answer can hold."""
    return isinstance(value, str) and "\0" not in value and not _LONE.search(value)


_LONE: Final = re.compile("[\ud800-\udfff]")


def _has_size(about: Json, what: str, size: int) -> bool:
    return bool(about.get(f"min{what}", size) <= size <= about.get(f"max{what}", size))


def _is_list(about: Json) -> bool:
    return "array" in about.get("type", ())


def _expected(about: Json) -> str:
    if "enum" in about:
        return "one of " + ", ".join(f"`{choice}`" for choice in about["enum"])
    if _is_list(about):
        size = f" ({about.get('minItems', 0)} to {about['maxItems']})" if "maxItems" in about else ""
        return f"a string or a list of strings{size}"
    least, most, unit = _BOUNDS.get(about["type"], ("", "", ""))
    told = _WORDS[about["type"]]
    if most in about:
        return f"{told} of {about.get(least, 0)} to {about[most]}{unit}"
    return f"{told} that is not empty" if least in about else told


_BOUNDS: Final = {
    "integer": ("minimum", "maximum", ""),
    "number": ("minimum", "maximum", ""),
    "string": ("minLength", "maxLength", " characters"),
    "object": ("minProperties", "maxProperties", " texts by their names"),
}


def _shown(value: Any) -> str:
    """A refused value, short."""
    text = ascii(value)
    if isinstance(value, str) and len(value) > 60:
        return f"a string of {len(value):,} characters"
    return text if len(text) <= 80 else f"{text[:77]}..."
