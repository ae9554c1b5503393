"""Languages that share a file extension, told apart by content."""

import pytest

from gitmem.chunking.content_language import labelled_language, refine_language
from gitmem.chunking.languages import language_of


@pytest.mark.parametrize(
    ("path", "content", "language"),
    [
        ("a.h", "#import <Foundation/Foundation.h>\n@interface A\n@end\n", "objc"),
        ("a.h", "namespace a {}\n", "cpp"),
        ("a.h", "enum class Kind { A };\n", "cpp"),
        ("a.h", "struct A {\n  virtual int f();\n};\n", "cpp"),
        ("a.h", "int f(void);\nenum kind { A };\n", "c"),
        ("a.h", "/* What is in\n   virtual memory (of pages) and\n   explicit about it.\n*/\nint f(void);\n", "c"),
        ("a.v", "module counter (\n  input clk\n);\nendmodule\n", "verilog"),
        ("a.v", "module main\n\nfn main() {\n}\n", "v"),
        ("a.v", "From Coq Require Import List.\nLemma a : True.\nProof. Qed.\n", "rocq"),
        ("a.pl", "use strict;\nmy $x = 1;\n", "perl"),
        ("a.pl", ":- use_module(library(lists)).\nparent(X, Y) :- child(Y, X).\n", "prolog"),
        ("a.t", "use Test::More;\nok 1;\n", "perl"),
        ("a.m", "#import \"A.h\"\n@implementation A\n@end\n", "objc"),
        ("a.m", "function y = f(x)\n% doubles it\ny = 2 * x;\nend\n", "matlab"),
        ("a.cls", "\\ProvidesClass{a}\n\\newcommand{\\x}{1}\n", "latex"),
        ("A.cls", "public with sharing class A {\n}\n", "apex"),
        ("a.tex", "\\begin{lstlisting}\npublic class A {\n\\end{lstlisting}\n", "latex"),
        ("a.fs", "module A\nlet f x = x\n", "fsharp"),
        ("a.fs", "#version 330 core\nvoid main() {}\n", "glsl"),
        ("de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS></TS>\n", "xml"),
        ("a.ts", "const x = <T>(y: T) => y\n", "typescript"),
        ("a.d", "module a;\nvoid main() {}\n", "d"),
        ("a.d", "build/a.o: a.c a.h\n", "make"),
        ("a.inc", "<?php\nfunction f() {}\n", "php"),
        ("a.inc", "#include \"a.h\"\nstatic int x;\n", "c"),
        ("a.inc", "SRC_URI += \"file://a\"\n", "bitbake"),
        ("a.inc", "unit a;\n", "pascal"),
        ("a.inc", "some words\n", "text"),
        ("a.bb", "(defn f [x] x)\n", "clojure"),
        ("a.bb", "SUMMARY = \"A\"\ninherit cmake\n", "bitbake"),
        ("a.bb", "require ${BPN}.inc\n\nPV = \"1\"\n", "bitbake"),
        ("a.bb", "(ns a\n  \"Servers that\n  require passwords\n  PORT = \"))\n", "clojure"),
        ("a.pp", "program a;\nbegin end.\n", "pascal"),
        ("a.pas", "\ufeffunit a;\ninterface\nclass function f(x: T): T;\n", "pascal"),
        ("a.pp", "class apache ($port = 80) {\n  include apache::mod\n}\n", "puppet"),
        ("a.cl", "(defun f (x) x)\n", "commonlisp"),
        ("a.cl", "__kernel void add(__global float *a) {}\n", "c"),
        ("import.sh", "#!/usr/bin/env php\n<?php\nfunction f() {}\n", "php"),
        ("run.sh", "#!/bin/sh\nexec java\n", "bash"),
        ("run.sh", "#!/opt/unheard/of\n", "bash"),
        ("shop.module", "<?php\n\nfunction shop_menu() {}\n", "php"),
        ("admin.cgi", "#!/usr/bin/perl -T\nuse strict;\n", "perl"),
        ("tool.1", ".\\\" licence\n.TH TOOL 1\n.SH NAME\n", "roff"),
        ("notes.1", "first notes\n", "text"),
    ],
)  # fmt: skip
def test_content_decides_between_languages_of_one_extension(path: str, content: str, language: str) -> None:
    assert refine_language(content.encode(), language_of(path)) == language


@pytest.mark.parametrize(
    ("path", "label", "language"),
    [
        ("a.h", "C++", "cpp"),
        ("a.h", "Objective-C", "objc"),
        ("a.h", "Unheard-Of", "c"),
        ("a.cls", "Apex", "apex"),
        ("a.pl", "Prolog", "prolog"),
        ("a.inc", "Assembly", "asm"),
        ("a.unheard-of", "Vim-Script", "vim"),
        ("bin/run", "Shell", "bash"),
        ("a.html", "Jinja", "jinja"),
        ("a.tpl", "html", "html"),
        # To change the statistics of a forge.
        ("a.css", "Java", "css"),
        ("a.js", "TypeScript", "javascript"),
        ("a.html", "Go", "html"),
        ("a.ipynb", "Python", "notebook"),
    ],
)
def test_a_label_counts_where_the_name_of_a_file_says_little(path: str, label: str, language: str) -> None:
    assert labelled_language(language_of(path), label) == language
