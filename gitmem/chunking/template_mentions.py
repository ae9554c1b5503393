"""Find the templates that code names by their paths: `render(request, "blog/post.html")`, `view('auth.login')`."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gitmem.chunking.import_statements import Import, read_imports
from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

_ENDING: Final = lazy_pattern(
    rb"\.(?:html?|twig|jinja2?|j2|njk|ejs|hbs|handlebars|mustache|liquid|tmpl|gohtml|ftlh?|jspf?|mako|cshtml)(?=[\"'])"
)
_BEGINNING: Final = lazy_pattern(rb"(?<=[\"'])[\w./-]+\Z")
_MAX_PATH: Final = 200


class _Call(NamedTuple):
    """Call of a framework's function with the path of a template without its ending, in the group `file`.

    Only a text with one of the `words` has one. `language` is that of the templates.
    """

    words: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    language: str


_CALLS: Final[Mapping[str, _Call]] = {
    "ruby": _Call(
        (b"render",),
        lazy_pattern(
            rb"render[ (]+(?:(?:partial|layout|template):\s*|:(?:partial|layout|template)\s*=>\s*)?"
            rb"[\"'](?P<file>[\w./-]{1,200})[\"']"
        ),
        "erb",
    ),
    "php": _Call(
        (b"view(", b"markdown(", b"markdown:", b"view:", b"::make("),
        lazy_pattern(rb"(?:\b(?:view|markdown)(?:\(|:\s)|::make\()\s*[\"'](?P<file>[\w.:-]{1,200})[\"']"),
        "blade",
    ),
    "csharp": _Call((b"View(",), lazy_pattern(rb"\b(?:Partial)?View\(\s*\"(?P<file>[\w./~-]{1,200})\""), "razor"),
    **dict.fromkeys(
        ("java", "kotlin"),
        _Call(
            (b"@Controller", b"ModelAndView"),
            lazy_pattern(rb"(?:\breturn|\bModelAndView\()\s*\"(?P<file>[\w/-]{1,200})\""),
            "thymeleaf",
        ),
    ),
    **dict.fromkeys(
        ("javascript", "typescript"),
        _Call((b".render(",), lazy_pattern(rb"\.render\(\s*[\"'](?P<file>[\w./-]{1,200})[\"']"), "ejs"),
    ),
}
_LANGUAGES: Final = frozenset(
    {"python", "php", "go", "javascript", "typescript", "ruby", "java", "kotlin", "csharp", "rust"}
)


def find_template_mentions(data: bytes, language: str) -> Iterator[tuple[int, Import]]:
    """Yield the templates that code names, each with the start of its path in bytes."""
    if language not in _LANGUAGES:
        return
    call = _CALLS.get(language)
    if call is not None and any(word in data for word in call.words):
        for match in call.pattern.finditer(data):
            yield from _read(match.start("file"), match["file"], call.language)
    for ending in _ENDING.finditer(data):
        beginning = _BEGINNING.search(data, max(0, ending.start() - _MAX_PATH), ending.start())
        if beginning is not None:
            yield from _read(beginning.start(), data[beginning.start() : ending.end()], "jinja")


def _read(start: int, path: bytes, language: str) -> Iterator[tuple[int, Import]]:
    for each in read_imports(path.decode("utf-8", "replace"), language):
        yield start, each
