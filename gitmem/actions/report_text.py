"""The text of a report, from a template and variables. Pure.

The templates are Mustache: they have loops over the given lists, and neither expressions nor attributes nor calls. The
library replaces each tag once, so a value that looks like a tag stays as it is.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from pystache import Renderer
from pystache.parser import ParsingError, parse

from gitmem.errors import UsageError

MAX_REPORT: Final = 8 << 20
"""Characters of a report."""

MAX_VARIABLES: Final = 2 << 20
"""Characters of all variables together."""

MAX_ITEMS: Final = 500
"""Items of a list."""

SECTIONS: Final = "sections"
QUOTE: Final = "section_quote"
_BLANK_LINES: Final = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_FENCES: Final = re.compile("`{3,}")


def check_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables as texts, and lists of texts or of objects with texts. Raises UsageError."""
    values = {str(name): _check_value(str(name), value) for name, value in variables.items()}
    if _length(values) > MAX_VARIABLES:
        raise UsageError(f"the variables have more than {MAX_VARIABLES:,} characters", hint="shorten the quotes")
    return values


def _check_value(name: str, value: Any, *, in_list: bool = False) -> Any:
    if value is None:
        return ""
    if isinstance(value, str | int | float):
        return _check_text(name, str(value).lower() if isinstance(value, bool) else str(value))
    if isinstance(value, dict) and in_list:
        return {str(key): _check_value(f"{name}.{key}", item) for key, item in value.items()}
    if isinstance(value, list | tuple) and not in_list:
        if len(value) > MAX_ITEMS:
            raise UsageError(f"`{name}` has {len(value):,} items, at most {MAX_ITEMS} are allowed")
        return [_check_value(f"{name}[{index}]", item, in_list=True) for index, item in enumerate(value)]
    raise UsageError(
        f"`{name[:80]}` is neither a text nor a list of objects with texts",
        hint="gitmem report schema shows an example",
    )


def _check_text(name: str, text: str) -> str:
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise UsageError(f"`{name[:80]}` is not valid text", hint="texts are UTF-8 without NUL characters")
    return text


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    items = value.values() if isinstance(value, dict) else value
    return sum(map(_length, items)) + len(items)


def require_variables(template: str, described: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raise UsageError if a variable that the description requires is missing."""
    missing = [
        f"`{name}`"
        for name, about in described.items()
        if isinstance(about, dict) and about.get("required") and name not in values
    ]
    if missing:
        raise UsageError(f"template `{template}` needs {', '.join(missing)}", hint=f"gitmem report schema {template}")


def complete_sections(values: Mapping[str, Any], max_quote_lines: int, *, keep_blank: bool) -> dict[str, Any]:
    """Return the variables with sections as templates use them: numbered, with short quotes and complete names."""
    sections = values.get(SECTIONS)
    if not isinstance(sections, list):
        return dict(values)
    items = [
        _complete(number, section, max_quote_lines, keep_blank=keep_blank) if isinstance(section, dict) else section
        for number, section in enumerate(sections, 1)
    ]
    return {**values, SECTIONS: items}


def _complete(number: int, section: Mapping[str, Any], most: int, *, keep_blank: bool) -> dict[str, Any]:
    lines = str(section.get(QUOTE, "")).splitlines()
    quote = "\n".join([line for line in lines if keep_blank or line.strip()][:most])
    name = section.get("file_name", "")
    defaults = {"number": str(number), "file_name_with_line": name, "file_uri": "", "section_summary": ""}
    return {**defaults, **section, QUOTE: quote, "section_quote_block": _fence(quote)}


def _fence(quote: str) -> str:
    """Return a block of code in Markdown; its fence is longer than any in the quote, which can therefore not end it."""
    if not quote:
        return ""
    longest = max((len(match[0]) for match in _FENCES.finditer(quote)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{quote}\n{fence}"


class _TextRenderer(Renderer):  # type: ignore[misc]
    """Renderer that inserts texts as they are: a report is Markdown, where `<` is no markup in a quote."""

    def str_coerce(self, value: object) -> str:
        # Lists and objects have no text of their own.
        return "" if isinstance(value, list | dict) else str(value)


def render_text(template: str, values: Mapping[str, Any], *, keep_blank: bool) -> str:
    """Return the template with the values in place of its tags; unknown tags are empty.

    Raises: UsageError for an invalid template, or a report of more than MAX_REPORT characters. A hostile template takes
    any time and memory, so callers limit both (`report_process`).
    """
    # Without partials no template can read another file.
    renderer = _TextRenderer(escape=str, partials={}, missing_tags="ignore")
    try:
        text: str = renderer.render(parse(template, raise_on_mismatch=True), values)
    except (ParsingError, RecursionError, IndexError) as problem:  # the last for `{{=|=}}`
        raise UsageError(
            f"the template is not valid: {problem}", hint="each {{#list}} needs its {{/list}}"
        ) from problem
    if len(text) > MAX_REPORT:
        raise UsageError(f"the report has more than {MAX_REPORT:,} characters", hint="shorten template or variables")
    return (text if keep_blank else _BLANK_LINES.sub("\n\n", text)).strip("\n") + "\n"


def preview_of(text: str, most: int = 1000) -> str:
    """Return the beginning of a report."""
    return text if len(text) <= most else f"{text[:most].rstrip()}…"
