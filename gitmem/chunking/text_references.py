"""Patterns of references in texts without a syntax tree: languages that are read by lines, and code in templates."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.chunking.name_spelling import LETTER

_CALL: Final = re.compile(rb"(?<!" + LETTER + rb")([A-Za-z_$][\w$]*)\(")
_SPACED_CALL: Final = re.compile(
    rb"(?<!"
    + LETTER
    + rb")(?!(?:if|while|for|foreach|switch|return|catch|lock|typeof|sizeof|with)\b)([A-Za-z_]\w*) ?\("
)
"""Calls in Vala, which writes `f (x)`."""

_C_CALL: Final = re.compile(
    rb"(?<![\w$])(?!(?:if|while|for|switch|return|sizeof|alignof|typeof|decltype|defined|catch|do)\b)([A-Za-z_]\w*) ?\("
)
_C_CONSTANT: Final = re.compile(rb"(?<![\w$])([A-Z_][A-Z0-9_]{2,})(?![\w$])")
"""Calls, and constants in capitals, in the bodies of macros."""

_COMMAND: Final = re.compile(rb"(?<![\w$.\-'\"/\\])([A-Za-z]+-[A-Za-z]\w+)\b(?!-)")
"""Commands of PowerShell: `Get-Item`."""

_MEMBER_CALL: Final = re.compile(rb"(?:\.|::)([A-Za-z_]\w*)\(")
_NO_WORD: Final = (
    rb"(?<![.\w$`'])"
    rb"(?!(?:module|macromodule|program|interface|function|task|class|package|if|else|for|foreach|while|repeat|case[xz]?"
    rb"|unique0?|priority|always\w*|initial|final|assert|assume|cover|property|sequence|return|input|output|inout|ref"
    rb"|logic|wire|reg|tri|bit|byte|int|integer|shortint|longint|real|time|string|void|genvar|signed|unsigned|var|const"
    rb"|static|automatic|virtual|local|protected|rand|randc|parameter|localparam|assign|typedef|enum|struct|union|packed"
    rb"|posedge|negedge|begin|end\w*|import|export|extends|new|wait|disable|default|supply[01]|event|chandle|defparam"
    rb"|or|and)\b)"
)
"""Condition for a name of SystemVerilog: no keyword, and no port, member or number."""

_RANGE: Final = rb"(?:\[[^\]\n]{0,80}\][ \t]*)"
_INSTANCE: Final = re.compile(
    _NO_WORD + rb"([A-Za-z_]\w*)"
    rb"(?:\(|[ \t]*#[ \t]*\(|[ \t]+[A-Za-z_]\w*[ \t]*" + _RANGE + rb"?\([ \t]*(?:\.\w|\r?\n))"
)
"""Calls in SystemVerilog, and modules of which instances are made: `adder #(8) add (.a(x))`. `.a(x)` is a port."""

_DECLARED: Final = re.compile(
    _NO_WORD + rb"([A-Za-z_]\w*)"
    rb"(?=[ \t]+" + _RANGE + rb"{0,3}[A-Za-z_]\w*[ \t]*" + _RANGE + rb"{0,3}(?:[;=,)]|\r?$))",
    re.MULTILINE,
)
"""Types before a variable, a field or a port."""

_SCHEMA: Final = rb"(?:[\"\[`]?\w+[\"\]`]?\.){0,3}[\"\[`]?"
"""What stands before the name of a table or procedure of SQL: `[dbo].`."""

_CALLS: Final = (("call", _CALL),)
_MEMBER: Final = re.compile(rb"(?<=[\w)\]])[?!]?\.([A-Za-z_$][\w$]*)")
_BARE: Final = re.compile(
    rb"(?<![\w$.'`])(?!(?:true|false|null|undefined|let|const|of|in|as|track|if|else|typeof|instanceof|new|this)\b)"
    rb"([A-Za-z_$][\w$]*)(?![\w$'`:])"
)
"""Members and other names in the expressions of components."""

_OF_LANGUAGES: Final[Mapping[str, Sequence[tuple[str, re.Pattern[bytes]]]]] = {
    "crystal": (
        ("type", re.compile(rb"(?<![\w:]):[ \t]+(?:::)?(?:[A-Z]\w*::)*([A-Z]\w*)")),
        ("call", re.compile(rb"(?<=[\w)\]}?!])\.([a-z_]\w*[?!]?)")),
        *_CALLS,
    ),
    "cobol": (
        ("call", re.compile(rb"\b(?i:perform|thru|go[ \t]+to)[ \t]+([A-Za-z0-9][\w-]*)")),
        ("call", re.compile(rb"\b(?i:call|program)[ \t]*\(?[ \t]*['\"]([\w-]+)")),
        ("name", re.compile(rb"\b(?i:copy)[ \t]+['\"]?([\w-]+)")),
    ),
    "abap": (
        ("base", re.compile(rb"\b(?i:inheriting[ \t]+from|interfaces:?)[ \t]+(\w+)")),
        ("type", re.compile(rb"\b(?i:ref[ \t]+to|raising|new|cast|table[ \t]+of)[ \t]+(\w+)")),
        ("type", re.compile(rb"(?<![\w~>-])(\w+)(?:=>|~)")),
        ("call", re.compile(rb"\b(?i:perform[ \t]+|call[ \t]+function[ \t]+')(\w+)")),
        *_CALLS,
        ("read", re.compile(rb"=>(\w+)")),
    ),
    "sql": (
        ("type", re.compile(rb"\b(?i:from|join|into|update|table)[ \t]+" + _SCHEMA + rb"([A-Za-z_]\w*)")),
        ("call", re.compile(rb"\b(?i:exec|execute|call|perform)[ \t]+" + _SCHEMA + rb"([A-Za-z_]\w*)")),
        *_CALLS,
    ),
    "vala": (("call", _SPACED_CALL),),
    **dict.fromkeys(
        ("c", "cpp", "objc", "cuda", "arduino", "hlsl", "ispc", "glsl"),
        (("call", _C_CALL), ("name", _C_CONSTANT)),
    ),
    **dict.fromkeys(("angular", "vue", "svelte", "astro"), (*_CALLS, ("read", _MEMBER), ("name", _BARE))),
    "blade": (*_CALLS, ("read", re.compile(rb"->(\w+)(?![\w(])"))),
    "powershell": (("call", _COMMAND), ("call", _MEMBER_CALL)),
    "verilog": (
        ("base", re.compile(rb"\bextends[ \t]+(?:\w+::)?(\w+)")),
        ("type", re.compile(rb"\b([A-Za-z_]\w*)::")),
        ("type", _DECLARED),
        ("call", _INSTANCE),
        ("call", re.compile(rb"(?<=[\w)\]])\.([A-Za-z_]\w*)\(")),
        ("read", re.compile(rb"(?<=\w)::([A-Za-z_]\w*)")),
    ),
}


def references_in_text(language: str) -> Sequence[tuple[str, re.Pattern[bytes]]]:
    """Return kinds of occurrences with their patterns, whose only group is the name. At one place the first counts."""
    return _OF_LANGUAGES.get(language, _CALLS)
