"""Divide the files of Perl into code and documentation (POD)."""

import re
from typing import Final

from gitmem.chunking.layers import Layer, gaps, make_layer
from gitmem.lazy_pattern import lazy_pattern

_POD: Final = lazy_pattern(rb"^=[a-zA-Z].*?(?:^=cut\b[^\n]*(?:\n|\Z)|\Z)", re.MULTILINE | re.DOTALL)
"""From a line with a command to the end of the line `=cut`, or of the file (perlpod)."""


def divide_perl(data: bytes, language: str) -> list[Layer]:
    """Return the code, then the documentation if there is any."""
    spans = [match.span() for match in _POD.finditer(data)]
    code = make_layer(language, data, gaps(spans, len(data)))._replace(interrupted=True)
    return [code, make_layer("pod", data, spans)] if spans else [code]
