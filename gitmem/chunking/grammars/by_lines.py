"""Languages that are read by their lines, because the language pack has no grammar of them or an unsafe one."""

import re
from typing import Final

from gitmem.chunking.grammar import Dialect
from gitmem.chunking.grammars.line_grammar import make_line_grammar

_CAPABILITY: Final = r"(?:(?:ref|box|val|iso|trn|tag)\s+)?"
_BASIC: Final = (
    r"(?i:(?:(?:public|private|protected|friend|shared|overrides|overridable|overloads|static|async|partial|mustoverride"
    r"|mustinherit|notinheritable|notoverridable|default|readonly|withevents|shadows)\s+)*"
)
# Attributes and a modifier; each pattern adds how many of the latter there are.
_VALA: Final = (
    r"(?:\[[^\]\n]*\]\s*)?(?:(?:public|private|protected|internal|static|abstract|virtual|override|async|inline|extern|sealed"
    r"|partial|owned|unowned|signal|delegate)\s+)"
)
_ROCQ: Final = r"(?:(?:Local|Global|Program|Polymorphic|#\[[^\]\n]*\])\s+)*"
_LEAN: Final = (
    r"(?:@\[[^\]\n]*\]\s*)?(?:(?:private|protected|public|noncomputable|partial|unsafe|scoped|local|mutual)\s+)*"
)

_ASM_COMMENT: Final = r";|//|/\*|\*|@|#(?!\s*(?:define|if|ifdef|ifndef|endif|else|include)\b)"
_ASM_MACROS: Final = (
    r"(?:TEXT|ENTRY|ENTRY_NP|SYM_(?:FUNC|CODE)_START(?:_\w+)?|WEAK|function|\.macro)\b[\s(]+"
    r"(?:[^\s(<]*[^\s(<\w])?(?P<name>\w+)"
)
"""How the libraries of Go, and the kernels of Linux and the BSDs, begin a function."""

_ASM_BEGIN: Final = re.compile(
    rb"^(?:TEXT|ENTRY|ENTRY_NP|SYM_(?:FUNC|CODE)_START(?:_\w+)?|function)\b[\s(]", re.MULTILINE
)

_BALLERINA: Final = r"(?:(?:public|private|isolated|remote|transactional|client|service|readonly|distinct|final)\s+)*"
_CHAPEL: Final = r"(?:(?:private|public|inline|export|extern|override|operator|pragma\s+\"[^\"\n]*\")\s+)*"
_COLDFUSION: Final = (
    r"(?i:(?:(?:public|private|remote|package|static|final|abstract|default)\s+)*(?:[\w.]+(?:\[\])?\s+)?"
)
_MODELICA: Final = (
    r"(?:(?:encapsulated|partial|final|replaceable|redeclare|inner|outer|expandable|operator|pure|impure)\s+)*"
)
_PKL: Final = r"(?:(?:open|abstract|external|local|hidden|fixed|const)\s+)*"
_STAN: Final = r"(?:void|int|real|vector|row_vector|matrix|complex|array\s*\[[^\]\n]*\]\s*\w+)"

GRAMMARS: Final = {
    "crystal": make_line_grammar(
        r"#",
        ("function", r"(?:(?:private|protected|abstract)\s+)*(?:def|macro|fun)\s+(?:self\.)?(?P<name>\w+[?!=]?)"),
        ("class", r"(?:(?:private|abstract)\s+)*(?:class|struct|enum|lib|annotation)\s+(?P<name>[\w:]+)"),
        ("module", r"(?:private\s+)?module\s+(?P<name>[\w:]+)"),
        ("constant", r"(?P<name>[A-Z][A-Z0-9_]+)\s*=[^=]"),
        closing=r"end\b",
    ),
    "coffeescript": make_line_grammar(
        r"#",
        ("class", r"(?:[\w.]+\s*=\s*)?class\s+@?(?:[\w$]+\.)*(?P<name>[\w$]+)"),
        (
            "function",
            r"(?:[\w$@]+(?:\.|::))*@?(?P<name>[\w$]+)\s*[:=]\s*"
            r"(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)\s*)?[-=]>",
        ),
    ),
    "visualbasic": make_line_grammar(
        r"'|(?i:rem)\b",
        (
            "function",
            _BASIC + r"(?:sub|function|property(?:\s+(?:get|let|set))?|operator|event|declare\s+(?:sub|function))\s+)"
            r"(?P<name>\w+)",
        ),
        ("class", _BASIC + r"(?:class|structure|enum|interface|type)\s+)(?P<name>\w+)"),
        ("module", _BASIC + r"(?:module|namespace)\s+)(?P<name>[\w.]+)"),
        closing=r"(?i:end(?:\s+\w+)?\s*(?:'.*)?$)",
    ),
    "raku": make_line_grammar(
        r"#",
        (
            "function",
            r"(?:(?:proto|multi|only|our|my)\s+)*(?:sub|method|submethod|token|rule|regex)\s+(?P<name>[\w'-]+)",
        ),
        ("class", r"(?:(?:unit|my|our)\s+)*(?:class|role|grammar)\s+(?P<name>[\w:'-]+)"),
        ("module", r"(?:(?:unit|my|our)\s+)*(?:module|package)\s+(?P<name>[\w:'-]+)"),
        closing=r"\}",
    ),
    "awk": make_line_grammar(
        r"#",
        ("function", r"(?:function|func)\s+(?P<name>\w+)"),
        ("function", r"(?P<name>BEGIN|END|BEGINFILE|ENDFILE)\s*\{"),
        closing=r"\}",
    ),
    "applescript": make_line_grammar(r"--|#", ("function", r"(?:on|to)\s+(?P<name>\w+)"), closing=r"end\b"),
    # Labels of loops are definitions as well, unless macros begin the functions.
    "asm": make_line_grammar(
        _ASM_COMMENT,
        ("function", r"(?P<name>[A-Za-z_]\w*)\s+(?i:proc|macro)\b"),
        ("function", r"\.macro\s+(?P<name>\w+)"),
        ("function", r"(?!\d|\.L|L[A-Z]*\d)(?P<name>[A-Za-z_.$?@][\w.$?@]*):(?![:=])"),
        is_flat=True,
        dialect=Dialect(
            lambda data: _ASM_BEGIN.search(data) is not None,
            make_line_grammar(_ASM_COMMENT, ("function", _ASM_MACROS), is_flat=True),
        ),
    ),
    "dockerfile": make_line_grammar(
        r"#", ("section", r"(?i:from)\s+(?:--\S+\s+)*(?:\S+\s+(?i:as)\s+)?(?P<name>[^\s:@]+)"), is_flat=True
    ),
    "batch": make_line_grammar(r"(?i:@?rem\b|::)", ("function", r":(?P<name>[A-Za-z_][\w.-]*)\s*$"), is_flat=True),
    "prolog": make_line_grammar(
        r"%|/\*|\*", ("function", r"(?P<name>[a-z]\w*)\s*(?:\(|:-|-->|\.\s*$)"), is_flat=True, joins="function"
    ),
    "rocq": make_line_grammar(
        r"\(\*",
        (
            "function",
            _ROCQ + r"(?:Theorem|Lemma|Definition|Fixpoint|CoFixpoint|Corollary|Proposition|Remark|Fact|Example|Let"
            r"|Instance|Function|Equations|Axiom|Parameter|Ltac|Tactic\s+Notation)\s+(?P<name>[\w']+)",
        ),
        ("class", _ROCQ + r"(?:Inductive|CoInductive|Record|Structure|Class|Variant)\s+(?P<name>[\w']+)"),
        ("constant", r"(?:Section|Module(?:\s+(?:Type|Import|Export))?)\s+(?P<name>\w+)"),
        closing=r"(?:.*\s)?(?:Qed|Defined|Admitted|Abort)\.\s*$",
        is_flat=True,
    ),
    "lean": make_line_grammar(
        r"--|/-",
        ("function", _LEAN + r"(?:theorem|lemma|def|abbrev|instance|axiom|opaque)\s+(?P<name>[^\s:({\[]+)"),
        ("class", _LEAN + r"(?:structure|class|inductive)\s+(?P<name>[^\s:({\[]+)"),
        is_flat=True,
    ),
    "agda": make_line_grammar(
        r"--|\{-",
        ("constant", r"(?:open\s+)?(?:import|module)\s+(?P<name>[\w.]+)"),
        ("class", r"(?:data|record)\s+(?P<name>[^\s(){}]+)"),
        ("function", r"(?P<name>[^\s:(){};\"@=]+)\s+:\s"),
        is_flat=True,
    ),
    "pony": make_line_grammar(
        r"//",
        ("function", rf"(?:fun|be|new)\s+{_CAPABILITY}(?P<name>\w+)"),
        ("class", rf"(?:class|actor|primitive|struct|interface|trait|type)\s+{_CAPABILITY}(?P<name>\w+)"),
    ),
    # What is around the parameters may be in several lines, so nothing but the next definition tells where one ends.
    "nushell": make_line_grammar(
        r"#",
        (
            "function",
            r"(?:export\s+)?(?:def|extern|alias)\s+(?:--[\w-]+\s+)*[\"'`]?(?P<name>(?<=[\"'`])[^\"'`\n]+|[\w!?-]+)",
        ),
        ("module", r"(?:export\s+)?module\s+(?P<name>[\w-]+)"),
        ("constant", r"(?:export\s+)?const\s+(?P<name>[\w-]+)"),
        is_flat=True,
    ),
    "just": make_line_grammar(
        r"#",
        ("constant", r"(?:(?:export|alias)\s+)?(?P<name>[A-Za-z_][\w-]*)\s*:="),
        ("function", r"@?(?P<name>[A-Za-z_][\w-]*)(?:\s[^:\n]*)?:(?!=)"),
    ),
    "vala": make_line_grammar(
        r"//|/\*|\*|#(?:if|elif|else|endif)\b",
        ("class", _VALA + r"*(?:class|interface|struct|enum|errordomain)\s+(?:\w+\.)*(?P<name>\w+)"),
        ("module", r"namespace\s+(?P<name>[\w.]+)"),
        ("function", _VALA + r"+(?:[\w.<>,?\[\]]+\s+){0,3}(?:\w+\.)*(?P<name>\w+)\s*\("),
        closing=r"\}",
    ),
    "pug": make_line_grammar(
        r"//", ("function", r"mixin\s+(?P<name>[\w-]+)"), ("section", r"(?:block|append|prepend)\s+(?P<name>[\w-]+)")
    ),
    "haml": make_line_grammar(r"-#|/"),
    "slim": make_line_grammar(r"/"),
    "gherkin": make_line_grammar(
        r"#",
        ("feature", r"(?:Feature|Rule):\s*(?P<name>\S[^\n]*)"),
        ("section", r"(?:Background|Scenario(?: Outline| Template)?|Example):\s*(?P<name>\S[^\n]*)"),
    ),
    "abap": make_line_grammar(
        r"\*|\"",
        ("class", r"(?i:class|interface)\s+(?P<name>\w+)(?:\s+(?i:definition|implementation|public)\b|\s*\.)"),
        ("function", r"(?i:method|form|function|module)\s+(?:[\w/]+~)?(?P<name>[\w/]+)"),
        closing=r"(?i:end(?:class|interface|method|form|function|module))\b",
    ),
    "antlr": make_line_grammar(
        r"//|/\*|\*",
        ("module", r"(?:lexer\s+|parser\s+)?grammar\s+(?P<name>\w+)"),
        (
            "function",
            r"(?:fragment\s+)?(?!fragment\b)(?P<name>[A-Za-z_]\w*)\s*"
            r"(?:\[[^\]\n]*\]|returns|locals|options|:(?!:)|$)",
        ),
        is_flat=True,
    ),
    "autohotkey": make_line_grammar(
        r";",
        ("class", r"class\s+(?P<name>\w+)"),
        (
            "function",
            r"(?:static\s+)?(?!(?:if|while|for|loop|switch|return|catch)\b)(?P<name>\w+)\([^\n]*\)\s*(?:\{|=>|$)",
        ),
        closing=r"\}",
    ),
    "ballerina": make_line_grammar(
        r"//|#",
        ("function", _BALLERINA + r"(?:resource\s+)?function\s+(?:\w+\s+)?(?P<name>\w[\w.]*)(?=[\s(/\[])"),
        ("class", _BALLERINA + r"(?:class|type|enum)\s+(?P<name>\w+)"),
        ("module", _BALLERINA + r"service\s+(?P<name>/[\w/]*|\w+)"),
        closing=r"\}",
    ),
    "bison": make_line_grammar(
        r"//|/\*|\*",
        ("function", r"(?!default\b)(?P<name>[A-Za-z_][\w.-]*)\s*(?:\[\w+\]\s*)?:(?!:)"),
        ("function", r"(?:[A-Za-z_][\w*]*\s+)*\**(?P<name>[A-Za-z_]\w*)\s*\([^;]*$"),
        is_flat=True,
    ),
    "chapel": make_line_grammar(
        r"//|/\*|\*",
        ("function", _CHAPEL + r"(?:proc|iter)\s+(?:(?:ref|param|type|const)\s+)*(?:\w+\.)?(?P<name>\w+)"),
        ("class", _CHAPEL + r"(?:class|record|union|enum|interface)\s+(?P<name>\w+)"),
        ("module", _CHAPEL + r"(?:prototype\s+)?module\s+(?P<name>\w+)"),
        closing=r"\}",
    ),
    "coldfusion": make_line_grammar(
        r"//|/\*|\*|<!---",
        ("function", _COLDFUSION + r"function\s+)(?P<name>\w+)"),
        ("function", r"(?i:<cffunction\s+(?:[^>\n]*?\s)?name\s*=\s*[\"'])(?P<name>\w+)"),
        closing=r"\}|(?i:</cffunction>)",
    ),
    "cue": make_line_grammar(
        r"//", ("class", r"(?P<name>_?#\w+)\s*:"), ("constant", r"(?P<name>[A-Za-z_][\w-]*)\s*[?!]?:"), is_flat=True
    ),
    "flatbuffers": make_line_grammar(
        r"//",
        ("class", r"(?:table|struct|enum|union|rpc_service)\s+(?P<name>\w+)"),
        ("constant", r"(?:namespace|root_type)\s+(?P<name>[\w.]+)"),
        closing=r"\}",
    ),
    "idl": make_line_grammar(
        r"//|/\*|\*",
        (
            "class",
            r"(?:partial\s+)?(?:interface(?:\s+mixin)?|dictionary|enum|struct|namespace|callback|coclass|dispinterface"
            r"|library)\s+(?P<name>\w+)",
        ),
        closing=r"\}",
    ),
    "modelica": make_line_grammar(
        r"//|/\*|\*",
        ("function", _MODELICA + r"function\s+(?:extends\s+)?(?P<name>\w+)"),
        (
            "class",
            _MODELICA + r"(?:model|class|record|block|connector|type|package)\s+(?:extends\s+)?(?P<name>\w+)",
        ),
        closing=r"end\s+\w+\s*;",
        parts=rf"(?!{_MODELICA}(?:function|model|class|record|block|connector|type|package)\b).",
    ),
    "mojo": make_line_grammar(
        r"#",
        ("function", r"(?:async\s+)?(?:fn|def)\s+(?P<name>\w+)"),
        ("class", r"(?:struct|trait|class)\s+(?P<name>\w+)"),
    ),
    "move": make_line_grammar(
        r"//",
        ("module", r"module\s+(?P<name>[\w:]+)"),
        ("function", r"(?:(?:public(?:\([^)\n]*\))?|entry|native|inline)\s+)*fun\s+(?P<name>\w+)"),
        ("class", r"(?:public\s+)?(?:struct|enum)\s+(?P<name>\w+)"),
        closing=r"\}",
    ),
    "openscad": make_line_grammar(r"//|/\*|\*", ("function", r"(?:module|function)\s+(?P<name>\w+)"), closing=r"\}"),
    "p4": make_line_grammar(
        r"//|/\*|\*",
        ("function", r"(?:action|table|package|extern\s+[\w<>]+)\s+(?P<name>\w+)"),
        (
            "class",
            r"(?:control|parser|header_union|header_type|header|struct|enum(?:\s+bit\s*<\d+>)?|metadata)\s+(?P<name>\w+)",
        ),
        closing=r"\}",
    ),
    "pkl": make_line_grammar(
        r"//",
        ("module", _PKL + r"module\s+(?P<name>[\w.]+)"),
        ("class", _PKL + r"(?:class|typealias)\s+(?P<name>\w+)"),
        ("function", _PKL + r"function\s+(?P<name>\w+)"),
        closing=r"\}",
    ),
    "qsharp": make_line_grammar(
        r"//",
        ("module", r"namespace\s+(?P<name>[\w.]+)"),
        ("function", r"(?:internal\s+)?(?:operation|function)\s+(?P<name>\w+)"),
        ("class", r"(?:internal\s+)?(?:newtype|struct)\s+(?P<name>\w+)"),
        closing=r"\}",
    ),
    "rescript": make_line_grammar(
        r"//|/\*|\*",
        ("module", r"module\s+(?:type\s+|rec\s+)?(?P<name>\w+)"),
        ("class", r"type\s+(?:rec\s+)?(?P<name>\w+)"),
        ("function", r"(?:@[\w.]+(?:\([^)\n]*\))?\s+)*external\s+(?P<name>\w+)"),
        ("function", r"let\s+(?:rec\s+)?(?P<name>\w+)\s*(?::[^=\n]*)?=\s*(?:async\s+)?(?:\([^\n]*|\w+\s*)=>"),
        closing=r"\}",
    ),
    "sas": make_line_grammar(
        r"\*|/\*",
        ("function", r"(?i:%macro)\s+(?P<name>\w+)"),
        ("section", r"(?i:data|proc)\s+(?P<name>[\w.]+)"),
        closing=r"(?i:%mend|run\s*;|quit\s*;)",
        is_flat=True,
    ),
    "stan": make_line_grammar(
        r"//",
        ("section", r"(?P<name>functions|(?:transformed\s+)?(?:data|parameters)|model|generated\s+quantities)\s*\{"),
        ("function", _STAN + r"\s+(?P<name>\w+)\s*\("),
        closing=r"\}",
    ),
    "wolfram": make_line_grammar(r"\(\*", ("function", r"(?P<name>[A-Za-z$][\w$]*)\[[^\n]*\]\s*:?="), is_flat=True),
}  # fmt: skip
