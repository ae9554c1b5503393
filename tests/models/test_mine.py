"""Mining pairs from archives in the formats of the registries."""

import io
import json
import lzma
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from models.recipe import mine as recipe
from models.recipe.archive import read_archive
from models.recipe.fetch import fetch, find_archive
from models.recipe.mine import is_written, mine, mine_archive
from models.recipe.packages import Package, read_packages

SOURCE = b"""/**
 * Joins the parts of a path with single slashes.
 */
export function joinParts(parts: string[], root = ""): string {
  const trimmed = parts.map((part) => part.replace(/^\\/+|\\/+$/g, ""));
  return root + trimmed.filter(Boolean).join("/");
}
"""
README = b"""# Paths

Small helpers.

## Joining

Join the folders of a user with the name of a file:

```ts
import { joinParts } from "paths";
const full = joinParts(["home", user.name, file.name], root);
console.log(full);
```

Slashes at both ends are removed by `joinParts()` before the parts meet.
"""
MIT = b"Permission is hereby granted, free of charge, to any person obtaining a copy"


def npm_archive(folder: Path, licence: str, name: str = "paths") -> Package:
    metadata = json.dumps({"name": name, "version": "1.2.3", "license": licence}).encode()
    files = {"package.json": metadata, "src/join.ts": SOURCE, "README.md": README, "dist/join.min.js": SOURCE}
    target = folder / "npm" / f"{name}-1.2.3.tgz"
    target.parent.mkdir(exist_ok=True)
    write_tar(target, {f"package/{path}": data for path, data in files.items()})
    return Package("npm", name, "1.2.3", licence, frozenset(["typescript"]))


def write_tar(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def test_an_npm_package_gives_documentation_headings_and_mentions(tmp_path: Path) -> None:
    package = npm_archive(tmp_path, "MIT")
    (mined,) = mine([package], tmp_path)
    assert mined.licence == "MIT"
    by_kind = {pair.kind: pair for pair in mined.pairs}
    assert by_kind["doc"].query == "Joins the parts of a path with single slashes."
    assert by_kind["doc"].path == "package/src/join.ts"
    assert by_kind["heading"].query == "Joining: Join the folders of a user with the name of a file"
    assert by_kind["heading"].code.startswith("import { joinParts }")
    assert by_kind["mention"].query == "Slashes at both ends are removed by before the parts meet."
    assert by_kind["mention"].code == by_kind["doc"].code
    assert sum(pair.kind == "doc" for pair in mined.pairs) == 1


def test_a_copyleft_package_gives_nothing(tmp_path: Path) -> None:
    (mined,) = mine([npm_archive(tmp_path, "GPL-3.0")], tmp_path)
    assert mined.pairs == []


def test_an_excluded_package_is_not_read(tmp_path: Path) -> None:
    assert list(mine([npm_archive(tmp_path, "MIT", "axios")], tmp_path)) == []


def test_languages_missing_from_the_list_are_left_out(tmp_path: Path) -> None:
    package = npm_archive(tmp_path, "MIT")._replace(languages=frozenset(["swift"]))
    (mined,) = mine([package], tmp_path)
    assert mined.pairs == []


def test_the_licence_of_a_wheel_is_in_its_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/b.py", "def f():\n    pass\n")
        archive.writestr("a-1.0.dist-info/METADATA", "Name: a\nLicense-Expression: BSD-2-Clause\n\n# License: GPL\n")
    archive_ = read_archive(path)
    assert archive_.licence == "BSD-2-Clause"
    assert [name for name, _ in archive_.files] == ["a/b.py"]


def test_a_debian_source_consists_of_its_tarballs_and_its_copyright_file(tmp_path: Path) -> None:
    write_tar(tmp_path / "a_1.orig.tar.gz", {"a-1/src/join.ts": SOURCE, "a-1/third_party/b.ts": SOURCE})
    stanza = b"Files: *\nCopyright: x\nLicense: Apache-2.0\n"
    write_tar(tmp_path / "a_1-1.debian.tar.gz", {"debian/copyright": stanza})
    names = ("a_1.orig.tar.gz", "a_1-1.debian.tar.gz")
    (tmp_path / "a_1-1.dsc").write_text("Files:\n" + "".join(f" {'0' * 32} 1 {name}\n" for name in names))
    archive = read_archive(tmp_path / "a_1-1.dsc")
    assert archive.licence == "Apache-2.0"
    assert [name for name, _ in archive.files] == ["a-1/src/join.ts"]


def test_a_source_without_a_copyright_file_is_identified_by_its_licence_text(tmp_path: Path) -> None:
    write_tar(tmp_path / "a-1.tar.gz", {"a-1/src/join.ts": SOURCE, "a-1/LICENSE": MIT})
    assert read_archive(tmp_path / "a-1.tar.gz").licence == "MIT"


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed")
def test_a_debian_package_is_unpacked(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name, data in {
        "DEBIAN/control": b"Package: a\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x.x>\nDescription: x\n",
        "usr/share/a/join.ts": SOURCE,
        "usr/share/doc/a/copyright": b"Files: *\nLicense: Expat\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "DEBIAN").chmod(0o755)
    subprocess.run(["dpkg-deb", "-b", root, tmp_path / "a_1_all.deb"], check=True, capture_output=True)
    archive = read_archive(tmp_path / "a_1_all.deb")
    assert archive.licence == "Expat"
    assert [name for name, _ in archive.files] == ["usr/share/a/join.ts"]


@pytest.mark.parametrize(
    ("data", "written"),
    [(b"x = 1\n", True), (b"# Code generated by x\n", False), (b"a" * 9000, False), (b"a\0b", False),
     (b"// under the GNU General Public License\n", False)],
)  # fmt: skip
def test_generated_binary_and_differently_licensed_files_are_left_out(data: bytes, *, written: bool) -> None:
    assert is_written(data) is written


def test_a_package_gives_a_bounded_number_of_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = npm_archive(tmp_path, "MIT")
    monkeypatch.setattr(recipe, "CAPS", dict.fromkeys(recipe.CAPS, 0))
    path = find_archive(package, tmp_path)
    assert path is not None
    assert [mined.pairs for mined in mine_archive(path, package)] == [[]]


def test_an_archive_that_collects_projects_is_mined_project_by_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipe, "COLLECTION", 1)
    files = {f"all-1/{project}/join.ts": SOURCE.replace(b"joinParts", project.encode()) for project in ("one", "two")}
    write_tar(tmp_path / "all_1.orig.tar.gz", {**files, "all-1/LICENSE": MIT})
    (tmp_path / "all_1-1.dsc").write_text(f"Files:\n {'0' * 32} 1 all_1.orig.tar.gz\n")
    package = Package("debian-source", "all", "1-1", "MIT", frozenset(["typescript"]))
    projects = list(mine_archive(tmp_path / "all_1-1.dsc", package))
    assert [mined.label for mined in projects] == ["debian:all/one", "debian:all/two"]
    assert [pair.name for mined in projects for pair in mined.pairs] == ["one", "two"]


def test_the_command_writes_the_same_bytes_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = npm_archive(tmp_path, "MIT")
    monkeypatch.setattr(recipe, "read_packages", lambda: [package])
    for name in ("one", "two"):
        recipe.main(tmp_path / name, tmp_path, [])
    lines = lzma.decompress((tmp_path / "one" / "train.jsonl.xz").read_bytes()).splitlines()
    assert {json.loads(line)["pkg"] for line in lines} == {"npm:paths"}
    for name in ("train.jsonl.xz", "heldout.jsonl.xz", "report.tsv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert (tmp_path / "one" / "report.tsv").read_text().startswith("npm:paths\t1.2.3\tMIT\t")


@pytest.mark.parametrize(
    ("package", "file"),
    [
        (("pypi", "ruamel-yaml", "0.1"), "pypi/ruamel.yaml-0.1-py3-none-any.whl"),
        (("pypi-source", "a-b", "2"), "pypi-source/A_b-2.tar.gz"),
        (("npm", "@scope/a", "1.0.0-rc.1"), "npm/scope-a-1.0.0-rc.1.tgz"),
        (("debian", "a-dev", "1:2.0-1"), "debian/a-dev_1%3a2.0-1_all.deb"),
        (("debian-source", "a", "1:2.0-1"), "debian-source/a_2.0-1.dsc"),
    ],
)
def test_an_archive_is_found_under_the_file_name_of_its_client(
    tmp_path: Path, package: tuple[str, str, str], file: str
) -> None:
    listed = Package(*package, "MIT", frozenset(["c"]))
    assert find_archive(listed, tmp_path) is None
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).touch()
    assert find_archive(listed, tmp_path) == tmp_path / file


def test_only_missing_packages_are_downloaded_and_failures_are_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = tmp_path / "bin" / "npm"
    client.parent.mkdir()
    client.write_text(
        '#!/bin/sh\necho "$@" >> ../requests\nfor name; do [ "$name" = b@1 ] && : > b-1.tgz; done\ntrue\n'
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent), prepend=":")
    npm_archive(tmp_path, "MIT", "there")
    packages = [Package("npm", name, version, "MIT", frozenset(["c"])) for name, version in
                (("there", "1.2.3"), ("b", "1"), ("gone", "1"), ("axios", "1"))]  # fmt: skip
    assert [package.name for package in fetch(packages, tmp_path)] == ["gone"]
    requests = (tmp_path / "requests").read_text()
    assert "b@1 gone@1" in requests
    assert "there@" not in requests
    assert "axios" not in requests


def test_an_invalid_line_of_the_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "packages.tsv"
    path.write_text("registry\tname\tversion\tlicence\tlanguages\nnpm\ta\t\tMIT\tc\n")
    with pytest.raises(ValueError, match="not a package"):
        read_packages(path)
