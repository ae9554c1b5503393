"""Check the arguments of a call against the tool's schema before anything runs. Pure.

Only the keywords of JSON Schema that `descriptions` uses are known. The messages say what is expected, so that an agent
can correct the call. Unknown arguments are refused, although no schema says so: some providers refuse the keyword
`additionalProperties`.

Models often send two values in another form, which the schemas cannot allow without unions. Exactly these are converted
before the check: one string where a list is expected, and digits where a number is expected.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import Any, Final

from gitmem.errors import UsageError

Json = Mapping[str, Any]
Arguments = Mapping[str, Any]
"""Checked arguments of a call, complete with defaults."""


class InvalidArgument(UsageError):
    """Argument that a schema refuses: its name, its own schema and its value.

    The schema is None for an unknown argument, the value None for a missing one. `parent` is the name of the argument
    that it is a property of, "" if it is none.
    """

    parent = ""

    def __init__(self, message: str, name: str, schema: Json | None, value: Any, *, hint: str | None = None) -> None:
        """Keep what was refused; see UsageError."""
        super().__init__(message, hint=hint)
        self.name = name
        self.schema = schema
        self.value = value


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_TYPE_NAMES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list of strings",
}
_BOUNDS: Final = {
    "integer": ("minimum", "maximum", ""),
    "number": ("minimum", "maximum", ""),
    "string": ("minLength", "maxLength", " characters"),
    "object": ("minProperties", "maxProperties", " strings by name"),
    "array": ("minItems", "maxItems", " strings"),
}
"""Keywords of the bounds of a type, and their unit."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_DIGITS: Final[Mapping[str, re.Pattern[str]]] = {
    "integer": re.compile("[0-9]{1,15}"),
    "number": re.compile("[0-9]{1,15}(?:[.][0-9]{1,15})?"),
}
"""Strings converted to numbers, by the type of the argument."""

_MAX_SHOWN: Final = 80
"""Characters of a wrong name or value in a message."""


def check_arguments(schema: Json, arguments: Json) -> dict[str, Any]:
    """Return the arguments with defaults filled in, and the two conversions of the module made. Lists become tuples.

    An argument without a default that is missing becomes an empty value: an empty string, list or object, false, or a
    number one below the minimum.

    Raises: InvalidArgument.
    """
    properties = schema["properties"]
    for name in arguments:
        if name not in properties:
            shown = name[:_MAX_SHOWN]
            raise InvalidArgument(
                f"unknown argument `{shown}`", shown, None, arguments[name], hint=_suggest(name, properties)
            )
    for name in schema.get("required", ()):
        if arguments.get(name) is None:
            about = properties[name]
            raise InvalidArgument(
                f"missing argument `{name}`", name, about, None, hint=f"it must be {_expected(about)}"
            )
    return {name: _check_value(name, properties, arguments.get(name)) for name in properties}


def _suggest(name: str, properties: Json) -> str:
    outer = next((parent for parent, about in properties.items() if name in about.get("properties", ())), "")
    if outer:
        return f"`{name}` is a part of `{outer}`"
    near = get_close_matches(name, properties, 1)
    return f"did you mean `{near[0]}`?" if near else "arguments: " + ", ".join(properties)


def _check_value(name: str, properties: Json, value: Any) -> Any:
    """Return the value of one argument; `properties` has the schemas of all."""
    about = properties[name]
    if value is None:
        return about["default"] if "default" in about else _empty_value(about)
    value = _convert(about["type"], value)
    if not _is_valid(about, value):
        raise InvalidArgument(f"`{name}` must be {_expected(about)}, got {_show(value)}", name, about, value)
    if "properties" in about:
        try:
            return check_arguments(about, value)
        except InvalidArgument as error:
            error.parent = name
            if error.schema is None and error.name in properties:
                error.hint = f"`{error.name}` is an argument of its own, not a part of `{name}`"
            raise
    return tuple(value) if isinstance(value, list) else value


def _convert(type_name: str, value: Any) -> Any:
    """Return a list for one string and a number for digits, if the type is one of these; else the value itself."""
    if not isinstance(value, str):
        return value
    if type_name == "array":
        return [value]
    if type_name in _DIGITS and _DIGITS[type_name].fullmatch(value):
        return float(value) if "." in value else int(value)
    return value


def _empty_value(about: Json) -> Any:
    if "properties" in about:
        return check_arguments(about, {})
    if "minimum" in about:
        return about["minimum"] - 1
    return {"array": (), "boolean": False, "object": {}}.get(about["type"], "")


def _is_valid(about: Json, value: Any) -> bool:
    if "enum" in about:
        return value in about["enum"]
    if not _has_type(about["type"], value):
        return False
    if isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return bool(about.get("minimum", value) <= value <= about.get("maximum", value))
    if isinstance(value, list):
        return _are_items_valid(about.get("items", {}), value) and _is_size_valid(about, "Items", len(value))
    if isinstance(value, dict):
        # Objects without named properties hold texts if their number is bounded, and else any values.
        pairs = value.items() if "maxProperties" in about else ()
        return all(map(_is_text, chain.from_iterable(pairs))) and _is_size_valid(about, "Properties", len(value))
    return _is_text(value) and _is_size_valid(about, "Length", len(str(value).strip()))


def _are_items_valid(about: Json, items: Sequence[Any]) -> bool:
    # Objects in a list have no schema of their own: who uses them checks their values.
    if _holds_objects(about):
        return all(isinstance(item, dict) for item in items)
    return all(_is_text(item) and item in about.get("enum", items) for item in items)


def _holds_objects(about: Json) -> bool:
    return about.get("type") == "object"


def _has_type(name: str, value: Any) -> bool:
    # In Python true and false are integers, in JSON they are not.
    return isinstance(value, _TYPES[name]) and isinstance(value, bool) == (name == "boolean")


def _is_text(value: Any) -> bool:
    """Return whether a value is a string that git, file names and UTF-8 can represent."""
    return isinstance(value, str) and "\0" not in value and not _LONE_SURROGATE.search(value)


def _is_size_valid(about: Json, keyword: str, size: int) -> bool:
    return bool(about.get(f"min{keyword}", size) <= size <= about.get(f"max{keyword}", size))


def _expected(about: Json) -> str:
    """Describe the valid values of an argument."""
    if "enum" in about:
        return "one of " + _join(about["enum"])
    if "enum" in about.get("items", {}):
        return "a list of " + _join(about["items"]["enum"])
    minimum, maximum, unit = _BOUNDS.get(about["type"], ("", "", ""))
    type_name = _TYPE_NAMES[about["type"]]
    if _holds_objects(about.get("items", {})):
        type_name, unit = type_name.replace("strings", "objects"), " objects"
    if maximum in about:
        type_name = type_name.removesuffix(" of strings").removesuffix(" of objects")
        return f"{type_name} of {about.get(minimum, 0)} to {about[maximum]}{unit}"
    return type_name.replace("a string", "a non-empty string") if minimum in about else type_name


def _join(choices: Sequence[str]) -> str:
    return ", ".join(f"`{choice}`" for choice in choices)


def _show(value: Any) -> str:
    """Return a wrong value in short form."""
    text = ascii(value)
    if isinstance(value, str) and len(value) > 60:
        return f"a string of {len(value):,} characters"
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."
