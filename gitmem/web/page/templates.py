"""Templates of the page, with the functions that they use. Everything is escaped unless it is marked as HTML."""

from functools import cache
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from gitmem import __version__
from gitmem.display import count, duration, size, visible

_DAY: Final = len("2026-01-31")
_MINUTE: Final = len("2026-01-31T12:00")


def render(name: str, /, **values: Any) -> str:
    """Return a template as text."""
    return _environment().get_template(f"{name}.html").render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gitmem.web.page"),
        autoescape=True,
        undefined=StrictUndefined,  # a missing value is an error of ours, not an empty place on the page
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Templates get few functions, and no objects with methods that change anything.
    environment.globals |= {"version": __version__, "address": address, "count": count}
    environment.filters |= {
        "visible": visible,
        "size": size,
        "duration": duration,
        "day": lambda text: text[:_DAY],
        "minute": lambda text: text[:_MINUTE].replace("T", " "),
        "segment": lambda text: quote(text, safe=""),
    }
    return environment


def address(page: str, /, **query: Any) -> str:
    """Return an address of the page; empty values are left out, lists are repeated."""
    pairs = [(name, value) for name, given in query.items() for value in _values(given)]
    return f"{page}?{urlencode(pairs)}" if pairs else page


def _values(given: Any) -> list[str]:
    values = given if isinstance(given, list | tuple) else [given]
    return [str(value) for value in values if value not in ("", None, False)]
