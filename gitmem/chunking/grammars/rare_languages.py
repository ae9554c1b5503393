"""Languages of one domain that are read by their lines: mainframes, contracts, proofs, data, builds, games."""

from typing import Final

from gitmem.chunking.grammar import Grammar
from gitmem.chunking.grammars.line_grammar import make_line_grammar

_C_COMMENT: Final = r"//|/\*|\*"

_WORDS_BEFORE: Final = (
    r"(?:(?:pub(?:\([^)\n]*\))?|public|private|internal|export|external|static|abstract|override|final|virtual|inline"
    r"|native|stock|forward|async|unconstrained|global|unsafe|ghost|opaque|twostate|deprecated|entry|access\([^)\n]*\)"
    r"|view|pure|payable|#\[[^\]\n]*\]|@\w+(?:\([^)\n]*\))?)\s+)*"
)
_CURLY: Final = make_line_grammar(
    _C_COMMENT,
    (
        "function",
        _WORDS_BEFORE
        + r"(?:fn|fun|fx|func|function|transition|circuit|template|getter|predicate|method|lemma|op|transaction"
        r"|constructor|least\s+predicate|test|pred)\s+(?:\{:[^}\n]*\}\s*)?(?:\([^)\n]*\)\s*)?(?:\w+(?:::|\.))*"
        r"(?P<name>\w+)",
    ),
    (
        "class",
        _WORDS_BEFORE
        + r"(?:struct|enum|trait|contract|record|interface|resource(?:\s+interface)?|library|storage|impl|extend"
        r"|class|datatype|codatatype|newtype|type|message|event|component|model|union|scalar|alias|mapping|sig|parcelable"
        r"|protocol|iterator|bus|abi)\s+(?P<name>\w+)",
    ),
    ("module", _WORDS_BEFORE + r"(?:module|namespace|package|program)\s+(?P<name>[\w.:/]+)"),
    closing=r"\}",
)
"""Languages with braces and a word before each definition."""

_NO_STATEMENT: Final = (
    r"(?!(?:if|while|for|foreach|switch|else|elseif|return|case|do|new|delete|wait|thread|with|or|and|not|until"
    r"|repeat)\b)"
)
_SCRIPT: Final = make_line_grammar(
    _C_COMMENT,
    ("function", _WORDS_BEFORE + r"(?:function|func|macro)\s+(?:(?:private|autoexec)\s+)*(?:\w+:)?(?P<name>\w+)"),
    ("function", _NO_STATEMENT + _WORDS_BEFORE + r"(?:[\w:]+[\s&*\[\]]+)?(?P<name>[A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{"),
    (
        "function",
        _NO_STATEMENT + _WORDS_BEFORE + r"[\w:]+[\s&*\[\]]+(?P<name>[A-Za-z_]\w*)\s*\([^;{}]*\)\s*(?:const\b|$)",
    ),
    (
        "class",
        _WORDS_BEFORE + r"(?:class|struct|enum(?:\s+struct)?|methodmap|interface)\s+(?P<name>\w+)",
    ),
    closing=r"\}",
)
"""Languages that write functions as C does, or with a word before them."""

_COBOL_NUMBER: Final = r"(?:\d{6}\s?)?\s*"
_NO_PARAGRAPH: Final = (
    r"(?:end-[\w-]+|exit|goback|continue|stop|else|skip[123]|eject|title|file-control|input-output|environment|data"
    r"|identification|procedure|special-names|object-computer|source-computer|repository|i-o-control|configuration|linkage"
    r"|(?:working|local)-storage|file|report|screen|program-id|author|date-(?:written|compiled)|installation|security"
    r"|remarks)\b"
)
_JCL_COMMENT: Final = r"//\*"
_ISABELLE: Final = r"(?:\([^)\n]*\)\s*)?(?:'\w+\s+|\([^)\n]*\)\s*)?(?P<name>[A-Za-z][\w'.]*)"
_QL: Final = (
    r"(?:(?:private|abstract|override|final|cached|deprecated|additional|extensible|external|default|query"
    r"|pragma\[[^\]\n]*\]|bindingset\[[^\]\n]*\]|language\[[^\]\n]*\])\s+)*"
)

GRAMMARS: Final[dict[str, Grammar]] = {
    # Divisions and sections are no paragraphs, and of the data only records have a name that others use.
    "cobol": make_line_grammar(
        r"(?:\d{6})?\s*\*|/",
        ("module", _COBOL_NUMBER + r"(?i:program-id|class-id|function-id)\.\s*(?P<name>[\w-]+)"),
        ("class", _COBOL_NUMBER + r"(?:01|1)\s+(?P<name>(?!(?i:filler)\b)[A-Za-z][\w-]*)"),
        (
            "function",
            _COBOL_NUMBER
            + rf"(?!(?i:{_NO_PARAGRAPH}))(?P<name>[A-Za-z0-9][\w-]*)(?:\s+(?i:section))?\s*\.\s*(?:\d{{8}})?\s*$",
        ),
    ),
    "jcl": make_line_grammar(
        _JCL_COMMENT,
        ("module", r"//(?P<name>[\w@#$]+)\s+(?:JOB|PROC)\b"),
        ("function", r"//(?P<name>[\w@#$]+)\s+EXEC\b"),
        is_flat=True,
    ),
    "rexx": make_line_grammar(
        r"/\*|--|\*",
        ("function", r"(?P<name>[A-Za-z_@#$!?][\w.@#$!?]*)\s*:(?:\s*(?i:procedure)\b|\s*$)"),
        ("function", r"(?i:::\s*(?:method|routine))\s+[\"']?(?P<name>[\w.!?]+)"),
        ("class", r"(?i:::\s*class)\s+[\"']?(?P<name>[\w.]+)"),
        is_flat=True,
    ),
    # Both the macros of autoconf and plain ones.
    "m4": make_line_grammar(
        r"dnl\b|#",
        (
            "macro",
            r"(?:AC_DEFUN(?:_ONCE)?|AU_DEFUN|AU_ALIAS|AC_ARG_(?:WITH|ENABLE)|m4_(?:define|defun|pushdef)|define"
            r"|pushdef)\([\s\[`]*(?P<name>[\w.-]+)",
        ),
        is_flat=True,
    ),
    "vyper": make_line_grammar(
        r"#",
        ("function", r"def\s+(?P<name>\w+)"),
        ("class", r"(?:struct|event|interface|flag|enum)\s+(?P<name>\w+)"),
        ("constant", r"(?P<name>\w+)\s*:\s*(?:public|constant|immutable|transient|HashMap\b)[\[(]"),
    ),
    "snakemake": make_line_grammar(
        r"#",
        ("function", r"(?:rule|checkpoint|use\s+rule|async\s+def|def)\s+(?P<name>\w+)"),
        ("class", r"class\s+(?P<name>\w+)"),
        ("module", r"module\s+(?P<name>\w+)\s*:"),
        ("constant", r"(?<![ \t])(?P<name>[A-Z][A-Z0-9_]+)\s*=[^=]"),
    ),
    # Names of tests and keywords are sentences. What follows two blanks is a value.
    "robotframework": make_line_grammar(
        r"#",
        (
            "function",
            r"(?!\*\*\*|[$@&%]\{|\.\.\.|\[)(?P<name>\S+(?: \S+)*)[ \t]*\r?$",
        ),
        is_flat=True,
    ),
    "sml": make_line_grammar(
        r"\(\*",
        ("function", r"(?:fun|and)\s+(?:'\w+\s+|\([^)\n]*\)\s+)?(?P<name>[A-Za-z][\w']*)"),
        (
            "class",
            r"(?:datatype|type|eqtype|abstype|exception|signature|structure|functor)\s+(?:'\w+\s+|\([^)\n]*\)\s+)?"
            r"(?P<name>[A-Za-z][\w']*)",
        ),
        ("constant", r"val\s+(?:rec\s+)?(?P<name>[A-Za-z][\w']*)"),
    ),
    "stata": make_line_grammar(
        r"\*|//|/\*",
        (
            "function",
            r"(?:(?:cap(?:ture)?|qui(?:etly)?)\s+)?pr(?:og(?:ram)?)?\s+(?:def(?:ine)?\s+)?(?!(?:drop|list|dir)\b)"
            r"(?P<name>[A-Za-z_]\w*)",
        ),
        ("function", r"(?:real|string|void|transmorphic|numeric)\s+(?:\w+\s+)?(?:function\s+)?(?P<name>\w+)\s*\("),
        closing=r"end\s*$|\}",
    ),
    "codeql": make_line_grammar(
        _C_COMMENT,
        ("class", _QL + r"(?:class|module|newtype|signature\s+\w+)\s+(?P<name>\w+)"),
        (
            "function",
            _QL + r"(?:predicate|[A-Z]\w*(?:::\w+)*|int|string|boolean|float|date)\s+(?P<name>[a-z]\w*)\s*\(",
        ),
        closing=r"\}",
    ),
    "zeek": make_line_grammar(
        r"#",
        ("module", r"module\s+(?P<name>\w+)"),
        ("function", r"(?:global\s+)?(?:function|event|hook)\s+(?P<name>\w+(?:::\w+)*)"),
        ("class", r"(?:type|redef\s+(?:record|enum))\s+(?P<name>\w+(?:::\w+)*)"),
        closing=r"\}",
    ),
    "yara": make_line_grammar(
        _C_COMMENT, ("function", r"(?:(?:private|global)\s+)*rule\s+(?P<name>\w+)"), closing=r"\}"
    ),
    # A comment begins with a word, so a blank follows it.
    "forth": make_line_grammar(
        r"\\(?:\s|$)|\(\s",
        ("function", r":\s+(?P<name>\S+)"),
        ("constant", r"(?i:(?:\S+\s+)?(?:constant|variable|value|create|2variable|fvariable))\s+(?P<name>\S+)"),
        is_flat=True,
    ),
    "nsis": make_line_grammar(
        r";|#|/\*",
        ("function", r"(?i:function|!macro)\s+(?P<name>[\w.$:{}]+)"),
        ("section", r"(?i:section(?:group)?)\s+(?:/\w\s+)?\"?(?P<name>[^\"\n]*\w)"),
        closing=r"(?i:functionend|sectionend|sectiongroupend|!macroend)\b",
    ),
    "tla": make_line_grammar(
        r"\\\*|\(\*",
        ("module", r"-{4,}\s*MODULE\s+(?P<name>\w+)"),
        ("function", r"(?:LOCAL\s+)?(?:RECURSIVE\s+)?(?P<name>\w+)(?:\([^)\n]*\)|\[[^\]\n]*\])?\s*=="),
        ("function", r"(?:THEOREM|LEMMA|COROLLARY|PROPOSITION)\s+(?P<name>\w+)"),
        is_flat=True,
    ),
    "isabelle": make_line_grammar(
        r"\(\*",
        ("module", r"theory\s+(?P<name>\w+)"),
        (
            "function",
            r"(?:lemma|theorem|corollary|proposition|schematic_goal|definition|fun|function|primrec|primcorec"
            r"|abbreviation|inductive(?:_set)?|coinductive|lift_definition|method|axiomatization)\s+" + _ISABELLE,
        ),
        (
            "class",
            r"(?:datatype|codatatype|record|locale|class|type_synonym|typedef|typedecl|instantiation)\s+" + _ISABELLE,
        ),
        is_flat=True,
    ),
    "idris": make_line_grammar(
        r"--|\{-|\|\|\|",
        (
            "class",
            r"(?:(?:public\s+)?(?:export|private)\s+)?(?:data|record|interface|implementation)\s+(?P<name>[A-Z]\w*)",
        ),
        ("module", r"module\s+(?P<name>[\w.]+)"),
        ("function", r"(?:(?:public\s+)?(?:export|private|total|partial|covering)\s+)*(?P<name>[a-z_]\w*'*)\s*:\s"),
        is_flat=True,
    ),
    "autoit": make_line_grammar(
        r";", ("function", r"(?i:(?:volatile\s+)?func)\s+(?P<name>\w+)"), closing=r"(?i:endfunc)\b"
    ),
    "xquery": make_line_grammar(
        r"\(:",
        ("module", r"(?:library\s+)?module\s+namespace\s+(?P<name>[\w.-]+)"),
        ("function", r"declare\s+(?:%\S+\s+)*(?:updating\s+|private\s+)*function\s+(?P<name>[\w:.-]+)"),
        ("constant", r"declare\s+(?:%\S+\s+)*variable\s+\$(?P<name>[\w:.-]+)"),
        is_flat=True,
    ),
    "jq": make_line_grammar(r"#", ("function", r"def\s+(?P<name>\w+(?:::\w+)*)")),
    "promela": make_line_grammar(
        _C_COMMENT,
        ("function", r"(?:(?:active(?:\s*\[\w+\])?\s+)?proctype|inline|never|ltl)\s+(?P<name>\w+)"),
        ("class", r"typedef\s+(?P<name>\w+)"),
        closing=r"\}",
    ),
    "openqasm": make_line_grammar(
        _C_COMMENT, ("function", r"(?:gate|def|opaque|defcal)\s+(?P<name>\w+)"), closing=r"\}"
    ),
    "unrealscript": make_line_grammar(
        _C_COMMENT,
        ("class", r"(?i:class|interface)\s+(?P<name>\w+)"),
        ("section", r"(?i:(?:auto\s+|simulated\s+)*state(?:\(\))?)\s+(?P<name>\w+)"),
        (
            "function",
            r"(?i:(?:simulated|static|final|native(?:\(\d+\))?|private|protected|public|exec|singular|latent|iterator"
            r"|reliable|client|server|coerce)\s+)*(?i:function|event|delegate|preoperator|operator(?:\(\d+\))?)\s+"
            r"(?:[\w<>.]+\s+)?(?P<name>\w+)\s*\(",
        ),
        closing=r"\}",
    ),
    "bluespec": make_line_grammar(
        _C_COMMENT,
        ("module", r"(?:module|package)\s+(?:\[[^\]\n]*\]\s*)?(?P<name>\w+)"),
        ("class", r"(?:interface|typeclass|instance)\s+(?P<name>[A-Z]\w*)(?=\s*(?:#|;|$|\())"),
        (
            "function",
            r"(?:method|function)\s+(?:Action\w*\s*(?:#\([^;\n]*\)\s*)?|[\w#]+(?:\([^)\n]*\))?\s+)?"
            r"(?P<name>\w+)\s*[(;=]",
        ),
        ("function", r"rule\s+(?P<name>\w+)"),
        closing=r"end\w+\b",
    ),
    "templ": make_line_grammar(
        r"//",
        ("function", r"(?:templ|func|css|script)\s+(?:\([^)\n]*\)\s*)?(?P<name>\w+)\s*[(\[]"),
        ("class", r"type\s+(?P<name>\w+)"),
        closing=r"\}",
    ),
    **dict.fromkeys(
        (
            "noir", "sway", "leo", "aiken", "cadence", "tact", "tolk", "circom", "koka", "wren", "slint", "cangjie",
            "moonbit", "dafny", "typespec", "aidl", "slice", "alloy", "carbon",
        ),
        _CURLY,
    ),
    **dict.fromkeys(("gamemaker", "gsc", "sourcepawn", "nwscript", "angelscript", "monkeyc"), _SCRIPT),
}  # fmt: skip
