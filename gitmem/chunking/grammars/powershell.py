"""PowerShell: functions and classes, by lines in files with syntax errors.

The parser does not know all of the language (`[Attribute()]` before a statement, `$PSScriptRoot\\file`, `??`), and the
names behind an error may be lost up to the end of the file.
"""

from dataclasses import replace
from typing import Final

from gitmem.chunking.grammars.generic import make_generic
from gitmem.chunking.grammars.line_grammar import make_line_grammar

_LINES: Final = make_line_grammar(
    r"#|<#",
    ("function", r"(?i:function|filter|workflow|configuration)\s+(?:\w+:)?(?P<name>[\w-]+)"),
    ("class", r"(?i:class|enum)\s+(?P<name>\w+)"),
    (
        "function",
        r"(?i:(?:static|hidden)\s+)*(?:\[[\w.\[\], ]+\]\s*)?"
        r"(?!(?i:if|elseif|for|foreach|while|switch|catch|param|do|until|trap|return)\b)(?P<name>\w+)\s*\([^)\n]*\)\s*\{",
    ),
    closing=r"\}",
)

GRAMMARS: Final = {"powershell": replace(make_generic("powershell"), otherwise=_LINES)}
