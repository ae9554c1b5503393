"""Read files and licence of archives: wheels, source distributions, npm tarballs, Debian packages and sources."""

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
# Vendored, generated and compiled files, and fixtures.
_SKIPPED: Final = re.compile(
    r"(?i)(?:^|/)(?:_?vendor(?:ed|ored)?|third[_-]?party|3rdparty|externals?|extern|node_modules|bower_components|"
    r"bundled|deps|typeshed|generated|gen|__generated__|snapshots|locales?|fixtures|testdata|test_data|i18n|umd|\.git|pods|"
    r"debian/patches)/|\.min\.|\.bundle\.|\.d\.ts$|_pb2\.py$|\.pb\.\w+$|\.g\.\w+$|\.designer\.cs$|\.generated\."
)
_REFINED: Final = {"c": {"c", "cpp"}, "tsx": {"tsx", "typescript"}}
"""Languages that a file may turn out to have when it is read, if its name does not determine the language."""

# Folders of compiled JavaScript in npm packages.
_BUILT: Final = re.compile(r"/(?:dist|lib|esm|cjs|es|umd|build|modules|_esm|_cjs|module|commonjs)/")


class Archive(NamedTuple):
    """Contents of an archive: the licence as the package names it, and its source files and README pages."""

    licence: str
    files: list[tuple[str, bytes]]


def read_archive(path: Path, languages: frozenset[str] = LANGUAGES) -> Archive:
    """Read a package file of any registry: its licence, its README pages and its sources in these languages."""
    if path.suffix == ".dsc":
        return _debian_source(path, languages)
    if path.suffix == ".deb":
        return _collect(_deb_members(path), languages)
    if path.suffix in (".whl", ".zip"):
        return _collect(_zip_members(path), languages)
    archive = _collect(_tar_members(path), languages)
    return archive._replace(files=_without_builds(archive.files)) if path.suffix == ".tgz" else archive


def _collect(members: Iterator[tuple[str, int, "io.BufferedIOBase | bytes"]], languages: frozenset[str]) -> Archive:
    # The licence of the metadata takes precedence over the one recognised by its text.
    declared = text = ""
    files = []
    for name, size, body in members:
        base = name.rpartition("/")[2]
        if base == "copyright" or base in ("METADATA", "PKG-INFO") or base == "package.json":
            declared = declared or _declared_licence(name, _bytes(body))
        elif _LICENCE.search(name) and name.count("/") <= 3:
            text = text or licence_of_text(_bytes(body).decode("utf-8", "replace"))
        if size <= MAX_FILE and _is_relevant(name, languages):
            files.append((name, _bytes(body)))
    return Archive(declared or text, files)


def _bytes(body: "io.BufferedIOBase | bytes") -> bytes:
    return body if isinstance(body, bytes) else body.read()


def _is_relevant(name: str, languages: frozenset[str]) -> bool:
    base = name.rpartition("/")[2].lower()
    page = base.endswith((".md", ".markdown")) and (base.startswith("readme") or "/doc" in name.lower())
    language = language_of(name)
    return (page or bool(_REFINED.get(language, {language}) & languages)) and not _SKIPPED.search(name)


def _declared_licence(path: str, body: bytes) -> str:
    """Return the licence in a package's metadata, '' if the file is that of a nested package or names none."""
    # Only the files of the package itself: deeper ones are of bundled packages.
    text = body.decode("utf-8", "replace")
    base = path.rpartition("/")[2]
    if base == "package.json":
        return _npm_licence(text) if path.count("/") <= 1 else ""
    if base == "copyright":
        return licence_of_copyright(text)
    if path.count("/") > 1:
        return ""
    head = text.split("\n\n", 1)[0]
    # From the most precise field to the least.
    for field in ("License-Expression: ", "Classifier: License :: ", "License: "):
        values = re.findall(rf"(?m)^{field}(.+)$", head)
        if values:
            return "; ".join(values)[:200]
    return ""


def _npm_licence(text: str) -> str:
    try:
        package = json.loads(text)
    except ValueError:
        return ""
    licence = package.get("license") or package.get("licenses") or ""
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
    """Read all tarballs that a `.dsc` lists. The copyright file of the last one, that of Debian, takes precedence."""
    names = re.findall(r"(?m)^ [0-9a-f]{32} \d+ (\S+\.tar\.\w+)$", path.read_text("utf-8", "replace"))
    parts = [_collect(_tar_members(path.parent / name), languages) for name in names if (path.parent / name).exists()]
    licence = next((part.licence for part, name in reversed(list(zip(parts, names, strict=False))) if part.licence), "")
    return Archive(licence, [file for part in parts for file in part.files])


def _without_builds(files: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Return an npm package's sources without their compiled forms, or one of the builds if it contains no sources."""
    # With sources present, the compiled copies would repeat them in another form.
    if sum("/src/" in name for name, _ in files) > 5:
        return [file for file in files if "/src/" in file[0] or not _BUILT.search(file[0])]
    for build in ("/esm/", "/es/", "/_esm/", "/dist/", "/lib/"):
        if sum(build in name for name, _ in files) > 10:
            return [file for file in files if build in file[0] or not _BUILT.search(file[0])]
    return files
