"""Divide the files of web components (Vue, Svelte, Astro) into markup and code."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from gitmem.chunking.layers import Layer, Span, gaps, make_layer, only
from gitmem.chunking.lines import trim
from gitmem.named_tuple import NamedTuple

_MAX_SCRIPTS: Final = 100
"""Scripts of one file; any further ones are markup."""

_MAX_OPENINGS: Final = 5_000
"""Tags and comments that are looked at. Each may be followed by an open quote, so that its end is sought far away."""

_MAX_ATTRIBUTES: Final = 1 << 11
_OPENING: Final = re.compile(rb"<!--|<script(?=[\s>])", re.IGNORECASE)
_ATTRIBUTES: Final = re.compile(rb"(?:[^>\"']|\"[^\"]*\"|'[^']*')*+>")
_CLOSING: Final = re.compile(rb"</script\s*>", re.IGNORECASE)
_FRONTMATTER: Final = re.compile(rb"\s*---[ \t]*\r?\n(?P<code>.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_LANGUAGE: Final = re.compile(rb"\blang\s*=\s*[\"']?(\w+)")
_TYPE: Final = re.compile(rb"\btype\s*=\s*[\"']?([\w/+.-]+)")
_CODE_TYPES: Final = re.compile(rb"module|(?:application|text)/(?:x-)?(?:(?:java|ecma|type)script|babel|jsx)")
"""Types of scripts that are code. Others are JSON, templates or shaders."""

_LANGUAGES: Final = {b"ts": "typescript", b"typescript": "typescript", b"tsx": "tsx"}


class _Script(NamedTuple):
    """Code with the marks around it, such as tags."""

    language: str
    whole: Span
    code: Span


def divide_component(data: bytes, language: str) -> list[Layer]:
    """Return the markup of a component, then its code: a layer for each language of scripts."""
    scripts = list(islice(_find_scripts(data, language), _MAX_SCRIPTS))
    layers = [make_layer(language, data, gaps([script.whole for script in scripts], len(data)))]
    for code_language in dict.fromkeys(script.language for script in scripts):
        own = [script for script in scripts if script.language == code_language]
        spans = [script.whole for script in own]
        code = bytearray(only(data, spans))
        for script in own:
            _comment_out(code, script.whole[0], script.code[0])
            _comment_out(code, script.code[1], script.whole[1])
        layers.append(Layer(code_language, bytes(code), spans))
    return layers


def _find_scripts(data: bytes, language: str) -> Iterator[_Script]:
    at = 0
    if language == "astro" and (frontmatter := _FRONTMATTER.match(data)):
        at = frontmatter.end()
        yield _Script("typescript", frontmatter.span(), frontmatter.span("code"))
    for _ in range(_MAX_OPENINGS):
        opening = _OPENING.search(data, at)
        if opening is None:
            return
        if opening[0] == b"<!--":
            at = data.find(b"-->", opening.end())
            if at < 0:
                return
            continue
        at = opening.end()
        attributes = _ATTRIBUTES.match(data, at, at + _MAX_ATTRIBUTES)
        if attributes is None:
            continue
        closing = _CLOSING.search(data, attributes.end())
        # Without a closing tag behind this one, there is none behind a later one either.
        if closing is None:
            return
        at = closing.end()
        script_type = _TYPE.search(attributes[0])
        if script_type is not None and not _CODE_TYPES.fullmatch(script_type[1].lower()):
            continue
        attribute = _LANGUAGE.search(attributes[0])
        name = _LANGUAGES.get(attribute[1].lower(), "javascript") if attribute else "javascript"
        yield _Script(name, (opening.start(), at), (attributes.end(), closing.start()))


def _comment_out(code: bytearray, start: int, end: int) -> None:
    """Make a mark a comment of the same length: it is shown with the code next to it."""
    start, end = trim(bytes(code), start, end)
    if end - start < len("/**/") or b"*/" in code[start:end]:
        code[start : start + 2] = b"//"  # three hyphens
        return
    code[start : start + 2] = b"/*"
    code[end - 2 : end] = b"*/"
