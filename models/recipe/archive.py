"""Package archives to files and a licence: wheels, source distributions, npm tarballs, Debian packages and sources."""

import io
import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.chunking.languages import language_of
from models.recipe.licence import licence_of_copyright, licence_of_text
from models.recipe.pairs import LANGUAGES

MAX_FILE: Final = 400_000

_LICENCE: Final = re.compile(r"(?i)(?:^|/)(?:licen[cs]e|copying|unlicense)(?:[.\-_][\w.\-]*)?$")
_SKIPPED: Final = re.compile(
    r"(?i)(?:^|/)(?:_?vendor(?:ed|ored)?|third[_-]?party|3rdparty|externals?|extern|node_modules|bower_components|"
    r"bundled|deps|typeshed|generated|gen|__generated__|snapshots|locales?|fixtures|testdata|test_data|i18n|umd|\.git|pods|"
    r"debian/patches)/|\.min\.|\.bundle\.|\.d\.ts$|_pb2\.py$|\.pb\.\w+$|\.g\.\w+$|\.designer\.cs$|\.generated\."
)
_MAY_BE: Final = {"c": {"c", "cpp"}, "tsx": {"tsx", "typescript"}}
"""What a file turns out to be when it is read, where its name does not settle that."""

_BUILT: Final = re.compile(r"/(?:dist|lib|esm|cjs|es|umd|build|modules|_esm|_cjs|module|commonjs)/")


class Archive(NamedTuple):
    """What one archive holds: the licence as the package names it, and its source files and read-me pages."""

    licence: str
    files: list[tuple[str, bytes]]


def read_archive(path: Path, languages: frozenset[str] = LANGUAGES) -> Archive:
    """Read a package file of any registry: its licence, its read-me pages and its sources in these languages."""
    if path.suffix == ".dsc":
        return _debian_source(path, languages)
    if path.suffix == ".deb":
        return _collect(_deb_members(path), languages)
    if path.suffix in (".whl", ".zip"):
        return _collect(_zip_members(path), languages)
    archive = _collect(_tar_members(path), languages)
    return archive._replace(files=_without_builds(archive.files)) if path.suffix == ".tgz" else archive


def _collect(members: Iterator[tuple[str, int, "io.BufferedIOBase | bytes"]], languages: frozenset[str]) -> Archive:
    named = text = ""
    files = []
    for name, size, body in members:
        base = name.rpartition("/")[2]
        if base == "copyright" or base in ("METADATA", "PKG-INFO") or base == "package.json":
            named = named or _named(name, _bytes(body))
        elif _LICENCE.search(name) and name.count("/") <= 3:
            text = text or licence_of_text(_bytes(body).decode("utf-8", "replace"))
        if size <= MAX_FILE and _wanted(name, languages):
            files.append((name, _bytes(body)))
    return Archive(named or text, files)


def _bytes(body: "io.BufferedIOBase | bytes") -> bytes:
    return body if isinstance(body, bytes) else body.read()


def _wanted(name: str, languages: frozenset[str]) -> bool:
    base = name.rpartition("/")[2].lower()
    page = base.endswith((".md", ".markdown")) and (base.startswith("readme") or "/doc" in name.lower())
    language = language_of(name)
    return (page or bool(_MAY_BE.get(language, {language}) & languages)) and not _SKIPPED.search(name)


def _named(path: str, body: bytes) -> str:
    """The licence by the package's own metadata."""
    text = body.decode("utf-8", "replace")
    base = path.rpartition("/")[2]
    if base == "package.json":
        return _npm_licence(text) if path.count("/") <= 1 else ""
    if base == "copyright":
        return licence_of_copyright(text)
    if path.count("/") > 1:
        return ""
    head = text.split("\n\n", 1)[0]
    for field in ("License-Expression: ", "Classifier: License :: ", "License: "):
        found = re.findall(rf"(?m)^{field}(.+)$", head)
        if found:
            return "; ".join(found)[:200]
    return ""


def _npm_licence(text: str) -> str:
    try:
        told = json.loads(text)
    except ValueError:
        return ""
    licence = told.get("license") or told.get("licenses") or ""
    return licence if isinstance(licence, str) else json.dumps(licence)


def _zip_members(path: Path) -> Iterator[tuple[str, int, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.is_dir() and info.file_size <= 4 * MAX_FILE:
                yield info.filename, info.file_size, archive.read(info)


def _tar_members(path: Path) -> Iterator[tuple[str, int, io.BufferedIOBase]]:
    with tarfile.open(path) as archive:
        yield from _members(archive)


def _deb_members(path: Path) -> Iterator[tuple[str, int, io.BufferedIOBase]]:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        with tarfile.open(fileobj=run.stdout, mode="r|*") as archive:
            yield from _members(archive)


def _members(archive: tarfile.TarFile) -> Iterator[tuple[str, int, io.BufferedIOBase]]:
    for member in archive:
        if member.isfile() and member.size <= 4 * MAX_FILE:
            body = archive.extractfile(member)
            assert body is not None
            yield member.name.removeprefix("./"), member.size, body  # type: ignore[misc]


def _debian_source(path: Path, languages: frozenset[str]) -> Archive:
    """All tarballs that a `.dsc` names; the copyright file of the Debian one counts."""
    names = re.findall(r"(?m)^ [0-9a-f]{32} \d+ (\S+\.tar\.\w+)$", path.read_text("utf-8", "replace"))
    parts = [_collect(_tar_members(path.parent / name), languages) for name in names if (path.parent / name).exists()]
    licence = next((part.licence for part, name in reversed(list(zip(parts, names, strict=False))) if part.licence), "")
    return Archive(licence, [file for part in parts for file in part.files])


def _without_builds(files: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """An npm package's sources, without what was compiled from them; one build where it carries no sources."""
    if sum("/src/" in name for name, _ in files) > 5:
        return [file for file in files if "/src/" in file[0] or not _BUILT.search(file[0])]
    for build in ("/esm/", "/es/", "/_esm/", "/dist/", "/lib/"):
        if sum(build in name for name, _ in files) > 10:
            return [file for file in files if build in file[0] or not _BUILT.search(file[0])]
    return files
