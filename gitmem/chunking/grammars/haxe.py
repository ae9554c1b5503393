"""Haxe: classes and functions, by lines in files with syntax errors.

The parser does not know all of the language (`abstract A(Int) from Int`, `switch` as a value, `return;`), and an error
may hide the rest of a class.
"""

from dataclasses import replace
from typing import Final

from gitmem.chunking.grammars.generic import make_generic
from gitmem.chunking.grammars.line_grammar import make_line_grammar

_TAGS: Final = r"(?:@:?[\w.]+(?:\([^)\n]*\))?\s+)*"

_LINES: Final = make_line_grammar(
    r"//|/\*|\*",
    ("interface", _TAGS + r"(?:(?:private|extern)\s+)*interface\s+(?P<name>\w+)"),
    (
        "class",
        _TAGS + r"(?:(?:private|extern|final|abstract|enum)\s+)*(?:class|enum|typedef|abstract)\s+(?P<name>[A-Z]\w*)",
    ),
    (
        "function",
        _TAGS + r"(?:(?:public|private|static|inline|override|final|extern|macro|dynamic|overload|abstract)\s+)*"
        r"function\s+(?P<name>\w+)",
    ),
    closing=r"\}",
)

GRAMMARS: Final = {"haxe": replace(make_generic("haxe"), otherwise=_LINES)}
