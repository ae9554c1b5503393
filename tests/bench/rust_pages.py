"""Oracle for Rust: the pages of source code that rustdoc writes, in which each name links to its definition.

A call of a method of a trait links to the trait, also if the type of the object is known. So the methods of all types
that implement the trait are answers as well, but not those that it has for any type: `impl<A: Load> Load for &A`. If
the trait is a library's, the answer is not known.

Only crates whose dependencies are in the repository can be read, without tests, and with the features that need no
other crate. No code of a crate is run: those with build scripts or procedural macros are read without them.
"""

import argparse
import html
import os
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urldefrag, urljoin

from tests.bench.definition_calls import Answer, AskedCall, Place
from tests.bench.subjects import SubjectError

_CODE: Final = re.compile(r'<pre class="rust[^"]*"><code>(.*?)</code></pre>', re.DOTALL)
_LINE_NUMBER: Final = re.compile(r"<a href=#\d+ id=\d+ data-nosnippet>\d+</a>")
_TAG: Final = re.compile(r'<a [^>]*?href="([^"]*)"[^>]*>|</?[^>]*>')
_NAME: Final = re.compile(r"\w+")
_TRAIT: Final = re.compile(r"\btrait\s+(\w+)")
_TYPE: Final = re.compile(r"(?<![\w'])(?!mut\b|dyn\b|const\b)\w+")
_PARAMETER: Final = re.compile(r"[<,]\s*(\w+)\s*(?=[:,>=])")
_KEYWORDS: Final = r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!|macro)\s+"


class Link(NamedTuple):
    """Link of a text within a line, in characters from 0, to an address."""

    start: int
    end: int
    address: str


class _Crate(NamedTuple):
    """Name of a crate, the file it begins with, its edition, features and dependencies."""

    name: str
    file: Path
    edition: str
    features: tuple[str, ...]
    dependencies: Mapping[str, Path]

    @property
    def arguments(self) -> list[str]:
        """Return the arguments that rustc and rustdoc share."""
        features = [part for each in self.features for part in ("--cfg", f'feature="{each}"')]
        return [str(self.file), "--crate-name", self.name, "--edition", self.edition, "--cap-lints", "allow", *features]


def ask_rustdoc(root: Path, calls: Sequence[AskedCall], _options: argparse.Namespace) -> Iterator[Answer]:
    """Yield the definitions that the pages link to: None for variables, and for files without a page."""
    with tempfile.TemporaryDirectory(prefix="rustdoc-", dir=root.parent) as folder:
        pages = dict(_write_pages(root, Path(folder)))
    if not pages:
        problem = _run(["rustdoc", "--version"]) or "each needs crates that are not in the repository"
        raise SubjectError(f"rustdoc can read no crate of {root.name}: {problem}")
    for call in calls:
        yield find_definition(root, pages, call) if call.path in pages else None


def read_links(page: str) -> dict[int, list[Link]]:
    """Return the links of a page of source code by line, from 1."""
    code = _CODE.search(page)
    links: dict[int, list[Link]] = {}
    line, column, opened = 1, 0, [("", 0)]
    position, text = 0, _LINE_NUMBER.sub("", code[1]) if code is not None else ""
    for tag in [*_TAG.finditer(text), None]:
        between = html.unescape(text[position : tag.start() if tag is not None else len(text)])
        line += between.count("\n")
        column = len(between) - 1 - between.rfind("\n") if "\n" in between else column + len(between)
        if tag is None:
            break
        position = tag.end()
        if tag[1]:
            opened.append((html.unescape(tag[1]), column))
        elif tag[0] == "</a>" and len(opened) > 1:
            address, start = opened.pop()
            links.setdefault(line, []).append(Link(start, column, address))
    return links


def find_definition(root: Path, pages: Mapping[str, dict[int, list[Link]]], call: AskedCall) -> Answer:
    """Return the definitions of a call, given the links of each file by line: none for a library's, None if unknown."""
    text = _lines(root / call.path)[call.line - 1]
    name = _NAME.match(text, call.column)
    link = next((each for each in pages[call.path].get(call.line, ()) if each.start <= call.column < each.end), None)
    if name is None or link is None:
        return None
    if link.address.startswith("https:"):
        return None if "/trait." in link.address else set()
    address, lines = urldefrag(link.address)
    path = urljoin(call.path, address.removesuffix(".html")) if address else call.path
    if path not in pages or not lines:
        return None
    first, _, last = lines.partition("-")
    place = _definition_in(root, path, range(int(first), int(last or first) + 1), name[0])
    if place is None:
        return None
    trait = _trait_around(_lines(root / path), place[1])
    return {place, *(_implementations(root, pages, trait, name[0]) if trait else ())}


def _trait_around(lines: Sequence[str], line: int) -> str:
    """Return the trait that a line is in, "" if it is in none."""
    indentation = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    for above in reversed(lines[: line - 1]):
        if above.strip() and len(above) - len(above.lstrip()) < indentation and above.lstrip()[:1] not in "/#":
            trait = _TRAIT.search(above)
            return trait[1] if trait is not None else ""
    return ""


def _implementations(root: Path, paths: Iterable[str], trait: str, method: str) -> Iterator[Place]:
    """Yield the definitions of a method in the implementations of a trait for types: not for a parameter."""
    head = re.compile(
        rf"^([ \t]*)(?:unsafe\s+)?impl\b([^{{;]*?)\b{trait}\b[^{{;]*?\bfor\s+([^{{;]*?)\{{(.*?)^\1\}}",
        re.DOTALL | re.MULTILINE,
    )
    defines = re.compile(rf"\bfn\s+{method}\b")
    for path in paths:
        text = (root / path).read_text("utf-8", "replace")
        for each in head.finditer(text):
            type_ = _TYPE.search(each[3])
            parameters = _PARAMETER.findall(each[2])
            if type_ is None or type_[0] in parameters:
                continue
            for definition in defines.finditer(text, each.start(4), each.end(4)):
                yield path, text.count("\n", 0, definition.start()) + 1


def _definition_in(root: Path, path: str, lines: range, name: str) -> Place | None:
    """Return the line that defines a name: not a variable or a parameter, but a variant of an enumeration."""
    text = _lines(root / path)
    defines = re.compile(_KEYWORDS + rf"(?:r#)?{name}\b")
    for line in lines:
        if defines.search(text[line - 1]):
            return path, line
    is_variant = name[:1].isupper() and re.match(rf"\s*{name}\b", text[lines.start - 1])
    return (path, lines.start) if is_variant else None


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").split("\n")


def _write_pages(root: Path, folder: Path) -> Iterator[tuple[str, dict[int, list[Link]]]]:
    """Yield the path of each source file that rustdoc could read, and the links in it."""
    crates = {crate.file: crate for manifest in sorted(root.rglob("Cargo.toml")) if (crate := _read_crate(manifest))}
    for crate in crates.values():
        out = folder / f"{crate.name}-pages"
        arguments = _compile_needed(crate, crates, folder)
        if arguments is None:
            continue
        command = ["rustdoc", *crate.arguments, *arguments, "-o", str(out), "-Z", "unstable-options"]
        _run([*command, "--generate-link-to-definition"])
        source = out / "src" / crate.name
        for page in sorted(source.rglob("*.rs.html")) if source.is_dir() else ():
            path = crate.file.parent / page.relative_to(source).with_suffix("")
            if path.is_file():
                yield path.relative_to(root).as_posix(), read_links(page.read_text())


def _compile_needed(crate: _Crate, crates: Mapping[Path, _Crate], folder: Path) -> list[str] | None:
    """Compile the dependencies of a crate; return the arguments that name them, None if one is not there."""
    arguments = ["-L", str(folder)]
    for name, file in crate.dependencies.items():
        other = crates.get(file)
        inner = _compile_needed(other, crates, folder) if other is not None else None
        if other is None or inner is None:
            return None
        library = folder / f"lib{other.name}.rmeta"
        if not library.exists():
            output = ["--crate-type", "lib", "--emit", "metadata", "--out-dir", str(folder)]
            _run(["rustc", *other.arguments, *inner, *output])
        if not library.exists():
            return None
        arguments += ["--extern", f"{name}={library}"]
    return arguments


def _run(command: Sequence[str]) -> str:
    """Run a program of the compiler, and return its errors. One that cannot read a crate writes nothing."""
    try:
        environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
        return subprocess.run(command, capture_output=True, text=True, env=environment).stderr.strip()
    except FileNotFoundError as error:
        raise SubjectError(f"the oracle needs `{command[0]}`, which is not installed") from error


def _read_crate(manifest: Path) -> _Crate | None:
    """Return the library of a manifest; None if there is none, or one that needs crates from elsewhere."""
    try:
        content: dict[str, Any] = tomllib.loads(manifest.read_text())
    except ValueError:
        return None
    package, library = content.get("package", {}), content.get("lib", {})
    file = manifest.parent / library.get("path", "src/lib.rs")
    if not file.is_file() or library.get("proc-macro"):
        return None
    required, optional = {}, set()
    for name, entry in content.get("dependencies", {}).items():
        settings = entry if isinstance(entry, dict) else {}
        if settings.get("optional"):
            optional.add(name)
        else:
            required[name.replace("-", "_")] = (manifest.parent / settings.get("path", "?") / "src/lib.rs").resolve()
    edition = package.get("edition", "2015")
    name = library.get("name") or package.get("name", "")
    return _Crate(
        name.replace("-", "_"), file.resolve(), edition if isinstance(edition, str) else "2021",
        _usable_features(content.get("features", {}), optional), required,
    )  # fmt: skip


def _usable_features(features: Mapping[str, Sequence[str]], optional: set[str]) -> tuple[str, ...]:
    """Return the features that need no other crate."""

    def needs(feature: str, seen: frozenset[str]) -> bool:
        return any(
            part.startswith("dep:") or "/" in part.replace("?/", "?") or part in optional
            or (part in features and part not in seen and needs(part, seen | {part}))
            for part in features[feature]
        )  # fmt: skip

    return tuple(sorted(each for each in features if each != "default" and not needs(each, frozenset({each}))))
