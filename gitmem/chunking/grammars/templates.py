"""Templates of pages and other texts: the tags of each language, with its blocks, macros and mentions."""

import re
from collections.abc import Mapping
from typing import Final

from gitmem.chunking.grammar import Grammar, TagRules, leaf, make_grammar, mergeable
from gitmem.lazy_pattern import lazy_pattern

_UNITS: Final = {"function": leaf("function"), "module": mergeable("module"), "section": mergeable("section")}
"""Rules by the node types of blocks."""

_FILE: Final = r"(?P<file>[^\"'\n<>{}]{1,200})"
_QUOTED_FILE: Final = rf"[\"']{_FILE}[\"']"
_EXPRESSION: Final = r"(?P<expression>[^{}\n]{1,1000})"


def _template(
    *tags: str,
    comments: Mapping[str, str],
    units: Mapping[str, str] | None = None,
    closers: Mapping[str, str] | None = None,
) -> Grammar:
    """Return the grammar of a template language; see `TagRules`. The first pattern that matches at a place counts."""
    begins = "|".join(re.escape(begin) for begin in sorted(comments, key=len, reverse=True))
    rules = TagRules(
        lazy_pattern("|".join((*tags, f"(?P<comment>{begins})")).encode()),
        {begin.encode(): end.encode() for begin, end in comments.items()},
        {keyword.encode(): node_type for keyword, node_type in (units or {}).items()},
        {closer.encode(): keyword.encode() for closer, keyword in (closers or {}).items()},
    )
    return make_grammar("", _UNITS, comments="comment", methods=False, tags=rules)


_JINJA: Final = _template(
    r"\{%[-+~]?\s*(?:(?P<opens>macro|block)\s+(?P<name>[\w-]+)(?=\s*(?:[-+~]?%\}|\(|scoped\b|required\b))"
    r"|end(?P<closes>macro|block)\b"
    r"|(?:from|import)\s+(?P<statement>[\"'][^\"'\n]{1,200}[\"']\s+(?:import\s+[^%\n]{1,500}|as\s+\w+)))",
    rf"(?:\{{%[-+~]?\s*(?:include|extends|embed|use)\s+(?:\[\s*)?|\b(?:include|source|ref)\(\s*){_QUOTED_FILE}",
    r"\{(?:\{|%[-+~]?\s*(?:if|elif|elseif|set|call|do|for|return)\b)"
    r"(?P<expression>(?:(?!\b(?:include|source|ref)\()[^{}\n]){1,1000})",
    comments={"{#": "#}"},
    units={"macro": "function", "block": "module"},
)
_SECTIONS: Final = ("section", "push", "prepend", "slot", "fragment")
_RAZOR_STATEMENTS: Final = (
    "if for foreach while switch using code functions section page model inject inherits implements namespace layout"
    " attribute typeparam rendermode preservewhitespace else do try lock await"
).replace(" ", "|")

GRAMMARS: Final = {
    "jinja": _JINJA,
    "twig": _JINJA,
    "liquid": _template(
        r"\{%-?\s*(?:(?P<opens>(?=(?P<name>schema)\b)\w+)\s*-?%\}"
        r"|end(?P<closes>schema)\b"
        r"|(?:render|include|include_relative|section|sections|layout)\s+[\"']?(?P<file>[\w./-]{1,200}))",
        comments={"{%- comment -%}": "{%- endcomment -%}", "{% comment %}": "{% endcomment %}"},
        units={"schema": "section"},
    ),
    "handlebars": _template(
        r"\{\{~?(?:#\*(?P<opens>inline)\s+[\"'](?P<name>[\w.-]+)|/(?P<closes>inline)\b)",
        r"\{\{(?:[#~]*>|!<)\s*[\"']?(?P<file>[\w./@-]{1,200})",
        comments={"{{!--": "--}}", "{{!": "}}"},
        units={"inline": "function"},
    ),
    "blade": _template(
        rf"@(?P<opens>{'|'.join(_SECTIONS)})\(\s*[\"'](?P<name>[\w.-]+)[\"']\s*\)",
        rf"@(?P<closes>end(?:{'|'.join(_SECTIONS)})|stop|show|append|overwrite)\b",
        r"@(?:include(?:If|When|Unless|First)?|extends(?:First)?|component|each|livewire)\("
        r"\s*(?:\[\s*|[^\"'()\n]{1,100},\s*)?[\"'](?P<file>[\w./:-]{1,200})[\"']",
        r"<(?P<component>x-(?!slot\b)[\w.:-]{1,200})",
        r"(?:\{\{(?!--)|\{!!|@(?:if|elseif|unless|foreach|forelse|for|while|isset|empty|switch|case|php|class|json|js)\s*\()"
        + _EXPRESSION,
        # In the arguments of other directives.
        r"->(?:(?P<called>\w{1,119})(?=\()|(?P<member>\w{1,119}))",
        comments={"{{--": "--}}"},
        units=dict.fromkeys(_SECTIONS, "module"),
        closers={f"end{name}": name for name in _SECTIONS}
        | dict.fromkeys(("stop", "show", "append", "overwrite"), "section"),
    ),
    # The names of blocks and of files look alike: a file has a folder or an ending.
    "gotemplate": _template(
        r"\{\{-?\s*(?:(?P<opens>define|block|if|range|with)\b(?:\s+\"(?P<name>[^\"\n]{1,120})\")?|(?P<closes>end)\b)",
        r"\b(?:template|include|partial|partialCached)\s+"
        r"\"(?:(?P<file>[^\"\n]*(?:/|\.(?:html|tmpl|tpl|gohtml|gotmpl|txt|xml)\b)[^\"\n]*)|(?P<called>[^\"\n]{1,120}))\"",
        comments={"{{/*": "*/", "{{- /*": "*/"},
        units={"define": "function", "block": "module"},
        closers={"end": ""},
    ),
    "angular": _template(
        r"<(?P<called>[a-z][a-z0-9]*-[\w-]{1,100})(?=[\s/>])",
        r"(?:\{\{|@(?:if|else if|for|switch|case|defer)\s*\(|@let\s+\w+\s*=)" + _EXPRESSION,
        r"\s(?:\*\w+|[\[(]+[\w.:@-]+[\])]+)=\"(?P<value>[^\"]{1,1000})",
        comments={"<!--": "-->"},
    ),
    "erb": _template(comments={"<%#": "%>"}),  # what it renders is in its code
    "ejs": _template(
        r"(?:\binclude\(\s*[\"']|<%-?\s*include\s+[\"']?)(?P<file>[\w./-]{1,200})", comments={"<%#": "%>"}
    ),
    "razor": _template(
        r"<(?P<called>[A-Z]\w{1,119})(?=[\s/>])",
        r"@(?:model|inherits|inject|implements|layout)\s+(?P<type>[\w.]{1,200})",
        r"@(?P<statement>using\s+(?:static\s+)?[\w.]{1,200})",
        rf"(?:<partial\s+name=|\b(?:Render)?Partial(?:Async)?\(\s*|\bLayout\s*=\s*){_QUOTED_FILE}",
        r"@(?:(?:if|for|foreach|while|switch|lock)\s*(?=\()|(?:on[a-z]+(?::\w+)?|ref)=[\"'][@(]*)?"
        rf"(?P<expression>(?=[\w(])(?!(?:{_RAZOR_STATEMENTS})\b)(?:[A-Za-z_][\w.]*)?(?:\([^\n\"]{{0,300}})?)",
        comments={"@*": "*@"},
    ),
    "freemarker": _template(
        r"<(?:#(?P<opens>macro|function)\s+(?P<name>[\w.-]+)|/#(?P<closes>macro|function)\b)",
        rf"<#(?:include|import)\s+{_QUOTED_FILE}",
        r"<@(?P<called>\w+(?:\.\w+)*)",
        rf"\$\{{{_EXPRESSION}\}}",
        comments={"<#--": "-->"},
        units={"macro": "function", "function": "function"},
    ),
    "thymeleaf": _template(
        r"\bth:fragment=\"(?P<defined>\w+)",
        r"(?:\bth:(?:replace|insert|include)|\blayout:decorate)=\"(?:~\{)?\s*(?P<file>[\w./-]{1,200})",
        r"::\s*(?P<called>\w+)(?=[^<>\"\n]{0,200}[}\"])",
        comments={"<!--": "-->"},
    ),
    "jsp": _template(rf"(?:<%@\s*include\s+file=|<jsp:include\s+page=){_QUOTED_FILE}", comments={"<%--": "--%>"}),
    "mako": _template(
        r"<(?:%(?P<opens>def|block)\s+name=[\"'](?P<name>\w+)|/%(?P<closes>def|block)>)",
        rf"<%(?:include|inherit|namespace)\s[^>\n]{{0,200}}?\bfile={_QUOTED_FILE}",
        rf"\$\{{{_EXPRESSION}\}}",
        comments={"<%doc>": "</%doc>"},
        units={"def": "function", "block": "module"},
    ),
}  # fmt: skip
