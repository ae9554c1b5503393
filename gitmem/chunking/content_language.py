"""Tell apart the languages that share a file extension, by the content of a file.

Each language that the name of a file may mean has patterns of other languages. The first that matches decides, and a
file that matches none is of the language of its name.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.chunking.languages import LANGUAGES, TEXT, language_from_head, language_named
from gitmem.lazy_pattern import lazy_pattern, line_pattern

_SHELL: Final = "bash"
_READ: Final = 1 << 16
"""Bytes of a file in which a pattern is looked for."""


def _start(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return a pattern for the beginning of a file."""
    return lazy_pattern(rb"\A\n(?:" + pattern + rb")", flags)


_PASCAL: Final = line_pattern(rb"(?i:unit|program|library|uses)[ \t]+\w[\w., \t]*;")
_BITBAKE: Final = line_pattern(
    rb"(?:SUMMARY|DESCRIPTION|LICENSE|SRC_URI|DEPENDS|RDEPENDS)[ \t]*\??[+.:]?=|inherit[ \t]+[a-z]"
)
_GO_TAG: Final = lazy_pattern(
    rb"(?<!\$)\{\{-?\s*(?:(?:define|template|block|include|partial)\s+[\"(]|(?:range|if|with)\s+[.$(\w]"
    rb"|\$\w+\s+:?=\s|\.(?:Values|Release|Chart|Params|Content|Title)\b)"
)
_PATTERNS: Final[Mapping[str, Sequence[tuple[re.Pattern[bytes], str]]]] = {
    TEXT: [(_start(rb"(?:[.']\\\"[^\n]*\n|[.'][ \t]*\n|\s)*\.(?:TH|Dd)[ \t]"), "roff")],
    "c": [
        (line_pattern(rb"(?:@interface|@protocol|@implementation|#import)\b"), "objc"),
        (lazy_pattern(rb"std::"), "cpp"),
        (lazy_pattern(rb"#include <(?:string|vector|memory|map|iostream|cstdint|cstddef|utility|type_traits)>"), "cpp"),
        (
            line_pattern(
                rb"(?:enum[ \t]+)?class[ \t]+\w|namespace\b|template[ \t]*<|using[ \t]+\w"
                rb"|(?:public|private|protected):|(?:virtual|explicit)[ \t][\w:<>,*&~ \t]*\w\(|constexpr[ \t]+\w"
            ),
            "cpp",
        ),
    ],
    # V, Verilog and Rocq.
    "v": [
        (
            line_pattern(rb"module[ \t]+\w+[ \t]*[#(;]|endmodule\b|`(?:timescale|default_nettype|include|define)\b"),
            "verilog",
        ),
        (line_pattern(rb"(?:From[ \t][\w.]+[ \t]+)?Require[ \t]|(?:Theorem|Lemma|Fixpoint|Inductive|Proof)\b"), "rocq"),
    ],
    # Perl, Raku and Prolog.
    "perl": [
        (line_pattern(rb"use[ \t]+v6|unit[ \t]+(?:module|class)\b"), "raku"),
        (line_pattern(rb"(?:use|my|our|sub|package|local)\b"), "perl"),
        (lazy_pattern(rb"^(?::-|[a-z]\w*(?:\([^\n]*\))?[ \t]*(?::-|-->))", re.MULTILINE), "prolog"),
    ],
    # Objective-C, MATLAB and the Wolfram language.
    "objc": [
        (
            line_pattern(
                rb"@(?:interface|protocol|implementation|class|import|end)\b"
                rb"|#[ \t]*(?:import|include)[ \t]*[<\"]|#(?:define|if)"
            ),
            "objc",
        ),
        (line_pattern(rb"(?:function\b|classdef\b|%|end[ \t]*(?:\n|\Z))"), "matlab"),
        (_start(rb"\s*\(\*"), TEXT),
    ],
    # Classes of LaTeX, of Apex and of Visual Basic.
    "latex": [
        (lazy_pattern(rb"\\(?:begin|section|chapter|documentclass|usepackage|def|newcommand|Provides\w+|NeedsTeXFormat)\b"),
         "latex"),
        (_start(rb"\s*VERSION[ \t]+[\d.]+[ \t]+CLASS"), "visualbasic"),
        (
            line_pattern(rb"(?i:(?:public|private|global)[ \t]+(?:[a-z]+[ \t]+){0,4}(?:class|interface|enum)[ \t]+\w)"),
            "apex",
        ),
    ],
    # F#, shaders and Forth.
    "fsharp": [
        (line_pattern(rb"#version\b|(?:precision|uniform|varying)[ \t]+\w|void[ \t]+main[ \t]*\("), "glsl"),
        (lazy_pattern(rb"^(?::[ \t]+\S|\\[ \t])", re.MULTILINE), TEXT),
    ],
    # Translations of Qt.
    "typescript": [(_start(rb"\s*<(?:\?xml|!DOCTYPE TS|TS)\b"), "xml")],
    # Dependencies that compilers write.
    "d": [(_start(rb"[^\s:]+\.(?:o|d|rlib|rmeta)\b[^\n:]*:"), "make")],
    "php": [
        (lazy_pattern(rb"<\?"), "php"),
        (_BITBAKE, "bitbake"),
        (_PASCAL, "pascal"),
        (
            line_pattern(
                rb"#[ \t]*(?:include|define|if|ifdef|ifndef|pragma)\b|(?:static|extern|typedef|struct)[ \t]+\w"
            ),
            "c",
        ),
        (lazy_pattern(rb""), TEXT),
    ],
    # Templates of pages.
    "html": [
        (
            lazy_pattern(rb"\{%-?\s*(?:include\s+[\w/-]+\.\w|(?:assign|capture|render|unless|layout|schema)\b)"),
            "liquid",
        ),
        (
            lazy_pattern(
                rb"\{%[-+~]?\s*(?:extends|include|import|from|block|macro|load|if|for|set|url|csrf_token|trans|static)\b"
            ),
            "jinja",
        ),
        (_GO_TAG, "gotemplate"),
        (
            lazy_pattern(rb"\sth:(?:text|each|if|unless|replace|insert|fragment|href|src|object|field|value)=\""),
            "thymeleaf",
        ),
        (
            lazy_pattern(
                rb"\s(?:\*ng[A-Z]\w*|\([\w.:]+\)|\[\(?[\w.:-]+\)?\])=\"|^[ \t]*@(?:if|for|switch|defer)[ \t]*\(",
                re.MULTILINE,
            ),
            "angular",
        ),
    ],
    # Templates of Helm.
    "yaml": [
        (
            lazy_pattern(rb"\{\{-?\s*(?:(?:include|template|define)\s+\"|\.(?:Values|Release|Chart)\b)"),
            "gotemplate",
        )
    ],
    # Models of dbt.
    "sql": [
        (
            lazy_pattern(
                rb"\{\{\s*(?:config|ref|source)\s*\(|\{%-?\s*(?:macro|materialization|snapshot|test)\b"
            ),
            "jinja",
        )
    ],
    "gotemplate": [(_start(rb"(?:(?!\{\{).)*+\Z", re.DOTALL), TEXT)],
    # Templates of Java, and translations of Fluent.
    "freemarker": [(_start(rb"(?:(?!<[#@]|\$\{).)*+\Z", re.DOTALL), TEXT)],
    # A recipe may only extend another one.
    "clojure": [(_BITBAKE, "bitbake"), (_start(rb"(?:#[^\n]*\n|\s)*+(?:require|include)[ \t]"), "bitbake")],
    "pascal": [
        (_PASCAL, "pascal"),
        (
            line_pattern(rb"(?:class|define|node)[ \t]+['\"\w:]+[^\n;]*[({]|(?:include|contain)[ \t]+(?:::)?[a-z]\w*"),
            "puppet",
        ),
    ],
    "commonlisp": [(line_pattern(rb"(?:__kernel|__global)[ \t]+\w|kernel[ \t]+void\b|#pragma[ \t]+OPENCL"), "c")],
}  # fmt: skip


def labelled_language(language: str, label: str) -> str:
    """Return the language of a file that has a language by its name and a label, as in `linguist-language=C++`.

    The label counts where the name says little: for names of no known language, and for endings that languages share.
    Many repositories label pages and styles as code to change the statistics of a forge.
    """
    named = language_named(label)
    others = {other for _, other in _PATTERNS.get(language, ())}
    is_open = language in ("", TEXT) or TEXT in others or named in others
    return named if is_open and named in LANGUAGES else language


def refine_language(data: bytes, language: str) -> str:
    """Return the language given by a file name, made exact by the content."""
    data = data.removeprefix(BOM_UTF8)
    # A script may have any extension, and so may a module of a system in PHP.
    if not language or (language == TEXT and data.startswith((b"#!", b"<?php"))):
        return language_from_head(data[:2048])
    # A name `*.sh` says that a file is a script, its first line in which language.
    if language == _SHELL and data.startswith(b"#!"):
        written_in = language_from_head(data[:2048])
        return language if written_in == TEXT else written_in
    patterns = _PATTERNS.get(language)
    if patterns is None:
        return language
    head = b"\n" + data[:_READ]
    found = next((other for pattern, other in patterns if pattern.search(head)), language)
    return refine_language(data, found) if found == "c" and language != "c" else found
