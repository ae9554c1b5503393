"""Oracles for the definitions of calls: jedi for Python, and the type checkers of other languages.

An oracle is asked for the definitions of some calls of a repository. Its answer for one call is a set of paths and
lines in the repository, which is empty for a definition of a library; None says that it knows none. The programs in
`oracles/` need Node and a package `typescript`, Go, a JDK, or a compiler as a library.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tests.bench.definition_calls import Answer, AskedCall, Oracle, Place
from tests.bench.rust_pages import ask_rustdoc
from tests.bench.server_oracles import SERVER_ORACLES
from tests.bench.subjects import SubjectError

_PROGRAMS: Final = Path(__file__).parent / "oracles"
_DEFINITIONS: Final = ("function", "class", "property")
_NAME: Final = re.compile(r"\w+[?!=]?")
_JAVA_TREE: Final = "jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED"


def ask_jedi(root: Path, calls: Sequence[AskedCall], _options: argparse.Namespace) -> Iterator[Answer]:
    """Yield the definitions that jedi infers from all code it can read."""
    import jedi  # an extra

    # Not the packages of this Python: one of them may be another version of the repository.
    library = [path for path in sys.path if path and "site-packages" not in path and Path(path) != Path.cwd()]
    project = jedi.Project(str(root), sys_path=[str(root), str(root / "src"), *library])
    scripts: dict[str, Any] = {}
    for call in calls:
        script = scripts.get(call.path) or jedi.Script(path=str(root / call.path), project=project)
        scripts[call.path] = script
        yield definitions_by_jedi(script, call, root)


def definitions_by_jedi(script: Any, call: AskedCall, root: Path) -> Answer:
    """Return the definitions of a call in a repository; none for a library's, None if jedi knows no definition."""
    try:
        found = script.goto(call.line, call.column, follow_imports=True)
        answers = [each for each in found if each.type in _DEFINITIONS]
    except Exception:  # jedi fails on some code; it is no oracle there
        return None
    if not answers:
        return None
    inside = [each for each in answers if each.module_path and Path(each.module_path).is_relative_to(root)]
    return {(Path(each.module_path).relative_to(root).as_posix(), each.line) for each in inside}


def ask_typescript(root: Path, calls: Sequence[AskedCall], options: argparse.Namespace, *mode: str) -> list[Answer]:
    """Return the definitions that the language service of TypeScript knows; in mode `references`, what refers to them.

    Raises SubjectError.
    """
    if options.typescript is None:
        raise SubjectError("the oracle needs --typescript, the folder of an installed package `typescript`")
    command = ["node", str(_PROGRAMS / "definitions.js"), str(options.typescript.resolve()), str(root), *mode]
    return _parse_json(_run(command, json.dumps(calls)))


def ask_go(root: Path, calls: Sequence[AskedCall], _options: argparse.Namespace) -> list[Answer]:
    """Return the definitions that the type checker of Go's library knows."""
    return _parse_json(_run(["go", "run", str(_PROGRAMS / "definitions.go"), str(root)], json.dumps(calls)))


def ask_java(root: Path, calls: Sequence[AskedCall], _options: argparse.Namespace) -> list[Answer]:
    """Return the definitions that javac knows."""
    program = str(_PROGRAMS / "Definitions.java")
    lines = "".join(f"{call.path}\t{call.line}\t{call.column}\n" for call in calls)
    return [_parse_line(line) for line in _run(["java", "--add-exports", _JAVA_TREE, program, str(root)], lines)]


def ask_compiler(root: Path, calls: Sequence[AskedCall], options: argparse.Namespace) -> list[Answer]:
    """Return the definitions that a compiler knows. `--server` is the command of a program in `oracles/`."""
    if not options.server:
        raise SubjectError("the oracle needs --server, for example `mono .../Definitions.exe`")
    lines = "".join(f"{call.path}\t{call.line}\t{call.column}\n" for call in calls)
    return [_parse_line(line) for line in _run([*shlex.split(options.server), str(root)], lines)]


def ask_trace(root: Path, calls: Sequence[AskedCall], options: argparse.Namespace) -> Iterator[Answer]:
    """Yield the definitions that the tests of a repository have called: None for calls that they did not make."""
    if options.trace is None:
        raise SubjectError("the oracle needs --trace, the file that `oracles/trace.rb` wrote")
    definitions: dict[tuple[str, int, str], set[Place]] = {}
    for line in options.trace.read_text("utf-8", "replace").splitlines():
        path, number, name, where, at = line.split("\t")
        definitions.setdefault((path, int(number), name), set()).add((where, int(at)))
    for call in calls:
        text = (root / call.path).read_text("utf-8", "replace").split("\n")[call.line - 1]
        name = _NAME.match(text, call.column)
        yield definitions.get((call.path, call.line, name[0])) if name is not None else None


ORACLES: Final = {
    "jedi": Oracle((".py",), ask_jedi),
    "typescript": Oracle((".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"), ask_typescript),
    "go": Oracle((".go",), ask_go),
    "java": Oracle((".java",), ask_java),
    "kotlin": Oracle((".kt",), ask_compiler),
    "trace": Oracle((".rb",), ask_trace),
    "roslyn": Oracle((".cs",), ask_compiler),
    "rustdoc": Oracle((".rs",), ask_rustdoc),
    **{name: Oracle(*oracle) for name, oracle in SERVER_ORACLES.items()},
}


def _run(command: Sequence[str], text: str) -> list[str]:
    """Return the lines that a program prints. Raises: SubjectError."""
    try:
        process = subprocess.run(command, input=text, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise SubjectError(f"the oracle needs `{command[0]}`, which is not installed") from error
    if process.returncode:
        raise SubjectError(f"{command[0]}: {process.stderr.strip()[-1000:]}")
    return process.stdout.splitlines()


def _parse_json(lines: Sequence[str]) -> list[Answer]:
    answers: list[list[Place] | None] = json.loads("".join(lines))
    return [None if each is None else {(path, line) for path, line in each} for each in answers]


def _parse_line(line: str) -> Answer:
    if line in ("?", "-"):
        return None if line == "?" else set()
    parts = line.split("\t")
    return {(path, int(number)) for path, number in zip(parts[::2], parts[1::2], strict=True)}
