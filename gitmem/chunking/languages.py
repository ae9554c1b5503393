"""Determine the language of a file by its name or first lines. `grammars` knows which languages have a grammar."""

from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.types import NOTEBOOK_LANGUAGE

TEXT: Final = "text"
_BLADE: Final = ".blade.php"


def language_of(path: str) -> str:
    """Return the language of a file name.

    Returns '' if the name has no extension, so that the content must decide, and 'text' for unknown extensions.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    language = _NAMES.get(name) or _NAMES.get(name.lower())
    if language:
        return language
    if name.endswith(_BLADE):
        return "blade"
    stem, dot, ext = name.rpartition(".")
    if not dot:
        return _language_of_prefix(name)
    if ext in _CASED:
        return _CASED[ext]
    language = _EXTENSIONS.get(ext.lower())
    if language:
        return language
    if not stem:
        return ""
    if ext.lower() in _TEMPLATES:
        language = language_of(stem)
        return language if language not in ("", TEXT) else _TEMPLATES[ext.lower()]
    return _language_of_prefix(name) or TEXT


def language_named(name: str) -> str:
    """Return the language that a name or a file extension means (`py`, `.ts`, `Objective-C`), else the name itself."""
    name = name.strip().lower()
    alias = _ALIASES.get(name.replace(" ", "-"))
    if alias or name in LANGUAGES:
        return alias or name
    by_ending = language_of(f"x.{name.lstrip('.')}") if name.strip(".") else ""
    return name if by_ending in ("", TEXT) else by_ending


def language_from_head(head: bytes) -> str:
    """Return the language of the first lines of a file, by shebang, opening tag or modeline, else 'text'."""
    head = head.removeprefix(b"\xef\xbb\xbf")[:2048]
    if head.startswith(b"#!"):
        return _INTERPRETERS.get(_program(head[2:].partition(b"\n")[0]), TEXT)
    for opening, language in _OPENINGS:
        if head.lstrip()[: len(opening)].lower() == opening:
            return language
    mode = _MODELINE.search(b"\n".join(head.split(b"\n", 3)[:3]))
    if mode:
        name = (mode[1] or mode[2]).decode("ascii", "replace").lower()
        language = _INTERPRETERS.get(name) or language_named(name)
        return language if language in LANGUAGES else TEXT
    return TEXT


def _program(line: bytes) -> str:
    """Return the program of a shebang: `python` for `/usr/bin/env -S A=b python3.11 -u`."""
    for word in line.decode("ascii", "replace").split():
        name = word.rpartition("/")[2].lower()
        if name != "env" and not name.startswith("-") and "=" not in name:
            return name.rstrip("0123456789.-")
    return ""


def _language_of_prefix(name: str) -> str:
    """Return the language of names with a variable suffix, such as `Dockerfile.dev` or `Makefile.in`, else ''."""
    head = name.lstrip(".").split(".", 1)[0].lower()
    return {"dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "make", "gnumakefile": "make"}.get(
        head, ""
    )


_MODELINE: Final = lazy_pattern(
    rb"-\*-\s*(?:mode:\s*)?([A-Za-z+#]+)\s*(?:;[^\n]*)?-\*-|\bvim?:[^\n]*\b(?:ft|filetype|syntax)=(\w+)"
)
_OPENINGS: Final = (
    (b"<?php", "php"),
    (b"<?xml", "xml"),
    (b"<!doctype html", "html"),
    (b"<html", "html"),
    (b"%yaml", "yaml"),
    (b"---\n", "yaml"),
)
# Names of languages on GitHub and in editors that are neither ours nor an extension, with `-` for blanks.
_ALIASES: Final = {
    "assembly": "asm", "unix-assembly": "asm", "gas": "asm", "batchfile": "batch", "dosbatch": "batch",
    "bazel": "starlark", "c#": "csharp", "c-sharp": "csharp", "cython": "python", "cperl": "perl",
    "classic-asp": "visualbasic", "common-lisp": "commonlisp", "coq": "rocq", "rocq-prover": "rocq",
    "django": "jinja", "html+django": "jinja", "html+jinja": "jinja", "html+ecr": "erb", "html+eex": "heex",
    "html+erb": "erb", "html+php": "php", "html+razor": "razor", "javascript+erb": "erb", "emacs-lisp": "elisp",
    "f#": "fsharp", "f-sharp": "fsharp", "go-module": "gomod", "go-template": "gotemplate", "helm": "gotemplate",
    "java-server-pages": "jsp", "java-properties": "properties", "json-with-comments": "json",
    "jupyter-notebook": NOTEBOOK_LANGUAGE, "linker-script": "linkerscript", "makefile": "make", "nextflow": "groovy",
    "objective-c": "objc", "objective-c++": "objc", "objectivec": "objc", "standard-ml": "sml",
    "robot-framework": "robotframework", "robot": "robotframework", "game-maker-language": "gamemaker",
    "monkey-c": "monkeyc", "tla+": "tla", "opencl": "c", "perl-6": "raku",
    "perl6": "raku", "protobuf": "proto", "protocol-buffer": "proto", "protocol-buffers": "proto",
    "restructuredtext": "rst", "shell": "bash", "shell-script": "bash", "shellscript": "bash",
    "starlark-(bazel)": "starlark", "tsql": "sql", "systemverilog": "verilog", "plpgsql": "sql", "vba": "visualbasic",
    "visual-basic-.net": "visualbasic", "visual-basic-6.0": "visualbasic", "vim-script": "vim", "vimscript": "vim",
    "viml": "vim", "webassembly": "wat", "dosini": "ini",
}  # fmt: skip
# Programs of shebang lines, without version numbers.
_INTERPRETERS: Final = {
    "sh": "bash", "bash": "bash", "dash": "bash", "ksh": "bash", "zsh": "bash", "ash": "bash", "bats": "bash",
    "fish": "fish", "python": "python", "pypy": "python", "uv": "python", "node": "javascript", "nodejs": "javascript",
    "bun": "typescript", "deno": "typescript", "ts-node": "typescript", "tsx": "typescript", "ruby": "ruby",
    "jruby": "ruby", "rake": "ruby", "perl": "perl", "php": "php", "lua": "lua", "luajit": "lua", "rscript": "r",
    "elixir": "elixir", "iex": "elixir", "escript": "erlang", "runhaskell": "haskell", "runghc": "haskell",
    "stack": "haskell", "scala": "scala", "scala-cli": "scala", "kotlin": "kotlin", "kotlinc": "kotlin",
    "groovy": "groovy", "swift": "swift", "julia": "julia", "tclsh": "tcl", "wish": "tcl", "make": "make",
    "racket": "racket", "guile": "scheme", "sbcl": "commonlisp", "ocaml": "ocaml", "pwsh": "powershell", "nix": "nix",
    "awk": "awk", "gawk": "awk", "mawk": "awk", "sed": TEXT, "osascript": "applescript",
    "crystal": "crystal", "coffee": "coffeescript", "raku": "raku", "perl6": "raku", "swipl": "prolog",
    "nextflow": "groovy", "nu": "nushell", "just": "just", "rust-script": "rust", "cargo": "rust", "dart": "dart",
}  # fmt: skip

# Complete file names. The exact case is tried before lower case.
_NAMES: Final = {
    "Dockerfile": "dockerfile", "Containerfile": "dockerfile", "Makefile": "make", "makefile": "make",
    "GNUmakefile": "make", "Kbuild": "make", "CMakeLists.txt": "cmake", "meson.build": "meson",
    "meson_options.txt": "meson", "build.ninja": "ninja", "Gemfile": "ruby", "Rakefile": "ruby", "Vagrantfile": "ruby",
    "Podfile": "ruby", "Brewfile": "ruby", "Guardfile": "ruby", "Capfile": "ruby", "Fastfile": "ruby",
    "Appfile": "ruby", "Dangerfile": "ruby", "config.ru": "ruby", ".irbrc": "ruby", ".pryrc": "ruby",
    "BUILD": "starlark", "BUILD.bazel": "starlark", "WORKSPACE": "starlark", "WORKSPACE.bazel": "starlark",
    "MODULE.bazel": "starlark", "BUCK": "starlark", "Tiltfile": "starlark", "SConstruct": "python",
    "SConscript": "python", "wscript": "python", "Snakefile": "snakemake", "Pipfile": "toml", "Cargo.lock": "toml",
    "poetry.lock": "toml", "uv.lock": "toml", "Pipfile.lock": "json", "composer.lock": "json", "flake.lock": "json",
    "package-lock.json": "json", "bun.lock": "json", "yarn.lock": "yaml", "pubspec.lock": "yaml", "mix.lock": "elixir",
    "go.mod": "gomod", "go.sum": "gosum", "go.work": "gomod", ".bashrc": "bash", ".bash_profile": "bash",
    ".bash_aliases": "bash", ".bash_logout": "bash", ".profile": "bash", ".zshrc": "bash", ".zshenv": "bash",
    ".zprofile": "bash", ".envrc": "bash", ".xinitrc": "bash", "PKGBUILD": "bash", "APKBUILD": "bash",
    ".env": "properties", ".gitignore": "gitignore", ".dockerignore": "gitignore", ".npmignore": "gitignore",
    ".eslintignore": "gitignore", ".prettierignore": "gitignore", ".gitattributes": "gitattributes",
    ".gitmodules": "ini", ".gitconfig": "ini", ".editorconfig": "ini", ".npmrc": "ini", ".pylintrc": "ini",
    ".flake8": "ini", ".coveragerc": "ini", "setup.cfg": "ini", "tox.ini": "ini", "pytest.ini": "ini",
    ".babelrc": "json", ".eslintrc": "json", ".prettierrc": "json", ".swcrc": "json", ".jshintrc": "json",
    ".luacheckrc": "lua", ".vimrc": "vim", "_vimrc": "vim", ".gvimrc": "vim", ".emacs": "elisp",
    ".clang-format": "yaml",
    ".clang-tidy": "yaml", "Kconfig": "kconfig", "Jenkinsfile": "groovy", "Caddyfile": TEXT, "Procfile": "yaml",
    "Justfile": "just", "justfile": "just", ".justfile": "just",
    "requirements.txt": "requirements", "requirements-dev.txt": "requirements",
    "MANIFEST.in": "pymanifest", "rebar.config": "erlang", "README": TEXT, "LICENSE": TEXT, "COPYING": TEXT,
    "NOTICE": TEXT, "AUTHORS": TEXT, "CHANGELOG": TEXT, "CHANGES": TEXT, "NEWS": TEXT, "TODO": TEXT, "HISTORY": TEXT,
    "CODEOWNERS": "gitignore", "Gemfile.lock": TEXT, "robots.txt": TEXT, ".inputrc": "readline",
    ".XCompose": "xcompose",
    "qmldir": "qmldir", ".bazelrc": TEXT, ".bazelversion": TEXT, "rust-toolchain": "toml", ".python-version": TEXT,
    ".nvmrc": TEXT, ".ruby-version": TEXT, ".tool-versions": TEXT, "xmonad.hs": "haskell", "stack.yaml": "yaml",
}  # fmt: skip

# Extensions whose case matters.
_CASED: Final = {"C": "cpp", "H": "cpp", "R": "r", "S": "asm", "M": "matlab", "F": "fortran", "F90": "fortran",
                 "V": "verilog", "L": TEXT, "PL": "perl"}  # fmt: skip
# Extensions added to a file name: the language is that of the name before them, or else of the template.
_TEMPLATES: Final = {"tmpl": "gotemplate", "tpl": "gotemplate", "j2": "jinja", "jinja": "jinja", "jinja2": "jinja",
                     **dict.fromkeys("in template dist sample example bak orig default src".split(), TEXT)}  # fmt: skip

_BY_LANGUAGE: Final = {
    "python": "py pyi pyw pyx pxd pxi gyp gypi tac rpy", "javascript": "js mjs cjs jsx es6 es jsm gjs",
    "typescript": "ts mts cts gts", "tsx": "tsx", "java": "java jav aj", "csharp": "cs csx cake", "go": "go",
    "rust": "rs",
    "c": "c h idc", "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp tpp txx inl ixx cppm metal msl", "cuda": "cu cuh",
    "ruby": "rb rake gemspec ru podspec rbi thor jbuilder builder rabl rbw",
    "php": "php phtml php3 php4 php5 php7 phps phpt inc",
    "kotlin": "kt kts ktm", "swift": "swift", "scala": "scala sc sbt", "elixir": "ex exs", "heex": "heex leex eex",
    "haskell": "hs hs-boot hsc", "lua": "lua rockspec nse", "luau": "luau", "zig": "zig zon",
    "bash": "sh bash zsh ksh bats ebuild eclass zsh-theme command slurm sbatch", "fish": "fish",
    "sql": "sql ddl dml pgsql psql plsql pks pkb pck pls plb fnc trg prc hql",
    "html": "html htm xhtml shtml", "css": "css pcss postcss tcss qss uss", "scss": "scss", "less": "less",
    "json": "json json5 jsonc geojson webmanifest avsc har topojson jsonl ndjson "
    "asmdef asmref uplugin uproject xcstrings arb importmap code-workspace",
    "yaml": "yaml yml cff neon sublime-syntax core",
    "toml": "toml", "markdown": "md markdown mdown "
    "mkd mkdn mdx qmd rmd mdc", "dockerfile": "dockerfile containerfile", "make": "mk mak make", "cmake": "cmake",
    NOTEBOOK_LANGUAGE: "ipynb",
    "vue": "vue", "svelte": "svelte", "astro": "astro", "dart": "dart", "r": "r", "perl": "pl pm t psgi",
    "julia": "jl", "ocaml": "ml mll mly eliom", "ocaml_interface": "mli", "erlang": "erl hrl escript",
    "clojure": "clj cljs cljc edn "
    "bb", "nix": "nix", "terraform": "tf tfvars", "hcl": "hcl nomad", "proto": "proto", "graphql": "graphql gql "
    "graphqls", "xml": "xml xsd xsl xslt svg plist csproj fsproj vbproj vcxproj props targets nuspec resx xaml axaml "
    "wsdl pom rss xcscheme xcworkspacedata xlf xliff entitlements fxml mxml docbook qrc ps1xml "
    "xib storyboard config slnx xcprivacy manifest ui uxml dproj groupproj lpi lpk proj wxs wixproj shproj pkgproj "
    "vcproj sqlproj ilproj iml launch ruleset xcdatamodel gir glade", "groovy": "groovy gradle gvy nf",
    "objc": "m mm", "fsharp": "fs fsx",
    "fsharp_signature": "fsi",
    "elm": "elm", "purescript": "purs", "gleam": "gleam", "nim": "nim nims nimble", "v": "v vsh", "d": "d di",
    "odin": "odin", "hare": "ha", "pony": "pony", "haxe": "hx", "solidity": "sol", "cairo": "cairo", "func": "fc",
    "clarity": "clar", "fortran": "f f90 f95 f03 f08 for ftn pyf", "pascal": "pas pp dpr lpr dpk", "ada": "adb ads ada",
    "cobol": "cob cbl cpy cobol", "jcl": "jcl", "rexx": "rexx rex zrexx", "m4": "m4 ac", "vyper": "vy vyi",
    "snakemake": "smk", "robotframework": "robot resource", "sml": "sml sig fun", "stata": "do ado mata",
    "codeql": "ql qll", "zeek": "zeek bro", "yara": "yar yara", "forth": "fth 4th forth", "nsis": "nsi nsh",
    "tla": "tla", "isabelle": "thy", "idris": "idr lidr", "autoit": "au3", "xquery": "xq xqm xql xqy xquery",
    "jq": "jq",
    "promela": "pml promela", "openqasm": "qasm", "unrealscript": "uc", "templ": "templ", "noir": "nr", "sway": "sw",
    "leo": "leo", "aiken": "ak", "cadence": "cdc", "tact": "tact", "tolk": "tolk", "circom": "circom",
    "koka": "kk", "wren": "wren", "slint": "slint", "cangjie": "cj", "moonbit": "mbt mbti", "dafny": "dfy",
    "typespec": "tsp", "aidl": "aidl", "slice": "ice", "alloy": "als", "carbon": "carbon", "bluespec": "bsv",
    "gamemaker": "gml", "gsc": "gsc csc", "sourcepawn": "sp", "nwscript": "nss", "angelscript": "angelscript",
    "monkeyc": "mc",
    "verilog": "sv svh vh", "vhdl": "vhd vhdl", "asm": "asm s nasm", "llvm": "ll",
    "matlab": "", "commonlisp": "lisp lsp cl asd", "elisp": "el", "scheme": "scm ss sld", "racket": "rkt",
    "fennel": "fnl", "janet": "janet", "tcl": "tcl tk", "vim": "vim", "powershell": "ps1 psm1 psd1",
    "puppet": "pp", "starlark": "bzl star bazel", "meson": "meson", "ninja": "ninja", "gn": "gn gni", "bicep": "bicep",
    "prisma": "prisma", "thrift": "thrift", "capnp": "capnp", "smithy": "smithy", "rego": "rego", "jsonnet": "jsonnet "
    "libsonnet", "kdl": "kdl", "ron": "ron", "ini": "ini cfg conf cnf desktop service socket timer tscn tres",
    "properties": "properties env xcconfig", "latex": "tex sty cls ltx", "bibtex": "bib", "typst": "typ", "org": "org",
    "mermaid": "mmd mermaid",
    "twig": "twig", "jinja": "jinja jinja2 njk nunjucks tera", "liquid": "liquid",
    "handlebars": "hbs handlebars mustache", "angular": "", "blade": "", "thymeleaf": "",
    "gotemplate": "gohtml gotmpl", "erb": "erb rhtml", "ejs": "ejs",
    "razor": "razor cshtml", "freemarker": "ftl ftlh", "jsp": "jsp jspf tag", "mako": "mako",
    "glsl": "glsl vert frag geom comp tesc tese vsh fsh frg glslf glslv rgen rchit rmiss rahit rint rcall "
    "gdshader gdshaderinc",
    "hlsl": "hlsl fx fxh slang hlsli cginc usf ush",
    "wgsl": "wgsl wesl", "wat": "wat", "wast": "wast", "gdscript": "gd", "actionscript": "as", "apex": "apex trigger",
    "arduino": "ino pde", "agda": "agda", "hack": "hack hhi", "smali": "smali", "tablegen": "td", "qmljs": "qml",
    "sparql": "sparql rq", "squirrel": "nut", "bitbake": "bb bbappend bbclass", "linkerscript": "ld lds",
    "dtd": "dtd", "po": "po pot", "beancount": "beancount", "yuck": "yuck", "csv": "csv", "tsv": "tsv",
    "pem": "pem crt",
    "magik": "magik", "ispc": "ispc", "uxntal": "tal", "firrtl": "fir", "bsl": "bsl os",
    "rst": "rst rest", "asciidoc": "adoc asciidoc asc", "pod": "pod",
    "crystal": "cr", "coffeescript": "coffee", "visualbasic": "vb bas vbs",
    "raku": "raku rakumod rakutest p6 pm6 pl6", "awk": "awk gawk", "applescript": "applescript", "batch": "bat cmd",
    "prolog": "prolog plt", "rocq": "", "lean": "lean", "gherkin": "feature", "nushell": "nu",
    "abap": "abap", "antlr": "g4 g", "autohotkey": "ahk ahk2", "ballerina": "bal", "bison": "y yy ypp",
    "chapel": "chpl", "coldfusion": "cfc cfm cfml cfs", "cue": "cue", "flatbuffers": "fbs", "idl": "idl webidl",
    "modelica": "mo", "mojo": "mojo", "move": "move", "openscad": "scad", "p4": "p4", "pkl": "pkl pcf", "qsharp": "qs",
    "rescript": "res resi", "sas": "sas", "stan": "stan stanfunctions", "wolfram": "wl wls nbp",
    "just": "just", "vala": "vala", "pug": "pug jade", "haml": "haml", "slim": "slim",
    "texinfo": "texi texinfo txi",
    "roff": "man mdoc roff",
    TEXT: "txt log text lock patch diff tap snap out sass styl",
}  # fmt: skip
# Reversed, so that the first language that lists an extension gets it.
_EXTENSIONS: Final = {ext: language for language, exts in reversed(_BY_LANGUAGE.items()) for ext in exts.split()}
LANGUAGES: Final = frozenset(_BY_LANGUAGE) | {*_NAMES.values()} - {""}
"""All names of languages."""
