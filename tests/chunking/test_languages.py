"""The language of a file by its name and first lines."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.chunking import languages
from gitmem.chunking.languages import LANGUAGES, language_from_head, language_named, language_of
from gitmem.indexing.fingerprint import RULES_VERSION


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("x.PYI", "python"),
        ("a.mjs", "javascript"),
        ("a.d.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("A.java", "java"),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("a.C", "cpp"),
        ("a.c", "c"),
        ("a.R", "r"),
        ("a.md", "markdown"),
        ("a.txt", "text"),
        ("a.rst", "rst"),
        ("a.adoc", "asciidoc"),
        ("a.log", "text"),
        ("a.unheard-of", "text"),
        ("CMakeLists.txt", "cmake"),
        ("src/Makefile", "make"),
        ("Makefile.in", "make"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("Gemfile", "ruby"),
        ("Rakefile", "ruby"),
        (".bashrc", "bash"),
        ("BUILD.bazel", "starlark"),
        ("go.mod", "gomod"),
        ("main.tf", "terraform"),
        ("config.yaml.j2", "yaml"),
        ("a.vue", "vue"),
        ("a.proto", "proto"),
        ("LICENSE", "text"),
        ("bin/run", ""),
        (".hidden", ""),
        ("", ""),
    ],
)
def test_the_file_name_determines_the_language(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/bin/sh\n", "bash"),
        (b"#! /usr/bin/env python3.11\n", "python"),
        (b"#!/usr/bin/env -S node --test\n", "javascript"),
        (b"\xef\xbb\xbf#!/usr/bin/ruby -w\n", "ruby"),
        (b"#!/opt/unheard/of\n", "text"),
        (b"<?php echo 1;", "php"),
        (b'<?xml version="1.0"?>', "xml"),
        (b"<!DOCTYPE HTML>\n", "html"),
        (b"# -*- mode: python -*-\n", "python"),
        (b"// -*- C++ -*-\n", "cpp"),
        (b"# vim: set ft=ruby :\n", "ruby"),
        (b"// -*- mode: Objc; c-basic-offset: 4 -*-\n", "objc"),
        (b"# vim: ft=help\n", "text"),
        (b"hello\n", "text"),
        (b"", "text"),
        (b"\x00\xff", "text"),
    ],
)
def test_the_first_lines_determine_the_language(head: bytes, language: str) -> None:
    assert language_from_head(head) == language


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("py", "python"), (".ts", "typescript"), ("C++", "cpp"), ("c#", "csharp"), ("F#", "fsharp"),
        ("Objective-C++", "objc"), ("Shell", "bash"), ("Emacs Lisp", "elisp"), ("JSON-with-Comments", "json"),
        ("Protocol Buffer", "proto"), ("Visual Basic .NET", "visualbasic"), ("text", "text"),
        ("unheard of", "unheard of"),
    ],
)  # fmt: skip
def test_a_language_has_the_names_that_others_give_it(name: str, language: str) -> None:
    assert language_named(name) == language


def test_other_names_of_languages_mean_languages() -> None:
    assert set(languages._ALIASES.values()) <= LANGUAGES


def test_determining_a_language_loads_no_parser() -> None:
    code = (
        "import sys, gitmem.chunking, gitmem.chunking.languages, gitmem.chunking.chunk_size, gitmem.chunking.chunk;"
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


BY_EXTENSION = {
    "py": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "tsx": "tsx", "java": "java",
    "cs": "csharp", "go": "go", "rs": "rust", "md": "markdown", "unheard-of": "text",
}  # fmt: skip


@given(
    folders=st.lists(st.text("ab-.é ", min_size=1, max_size=4), max_size=3),
    stem=st.text("xyz_-.", max_size=5),
    extension=st.sampled_from(sorted(BY_EXTENSION)),
    upper=st.booleans(),
)
def test_an_extension_determines_the_language_in_any_folder_and_case(
    folders: list[str], stem: str, extension: str, upper: bool
) -> None:
    """Property 18: Language detection."""
    path = "/".join([*folders, f"x{stem}.{extension.upper() if upper else extension}"])
    assert language_of(path) == BY_EXTENSION[extension]


def test_a_change_of_the_languages_of_names_raises_the_version_of_views() -> None:
    # The views of an index hold the languages of its paths. After a change of the tables, raise RULES_VERSION, then put
    # the new digest here: otherwise indexes from before the change keep the old languages.
    tables = (languages._NAMES, languages._CASED, languages._TEMPLATES, languages._EXTENSIONS, languages._ALIASES)
    digest = hashlib.blake2b(repr([sorted(table.items()) for table in tables]).encode(), digest_size=8).hexdigest()
    assert (RULES_VERSION, digest) == (8, "ff6e5c91e41c4569")
