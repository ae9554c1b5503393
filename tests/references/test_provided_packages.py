"""Packages that a tree provides, and the files that their imports mean."""

import pytest

from gitmem.references.provided_packages import ProvidedPackages, is_beside

PATHS = (
    "src/ns/store/__init__.py", "src/ns/store/rows.py", "plain/__init__.py", "plain/inner/__init__.py",
    "src/loose/part.py", "six.py", "script.py", "libs/one/one/__init__.py",
    "core/src/main/java/com/x/core/Rates.java", "core/src/main/kotlin/com/x/core/Tools.kt", "old/src/com/y/Old.java",
)  # fmt: skip
MANIFESTS = {
    "setup.py": "import setuptools\nsetup(py_modules=['six'])\n",
    "package.json": '{"name": "root", "private": true}',
    "ui/package.json": '{"name": "@x/ui"}',
    "list/package.json": "[1]",
    "deep/package.json": "[" * 100_000,
    "go.mod": "// tools\nmodule example.com/x\n",
    "go/sub/go.mod": 'module "example.com/x/sub/v2"\n',
    "Cargo.toml": "[workspace]\n",
    "rust/Cargo.toml": '[package]\nname = "my-crate"\n[lib]\nname = "other_name"\n',
    "bad/Cargo.toml": "[",
}


@pytest.mark.parametrize(
    ("family", "module", "path"),
    [
        ("python", "ns.store.rows", "src/ns/store/rows.py"),
        ("python", "store", "src/ns/store/__init__.py"),
        ("python", "plain.inner", "plain/inner/__init__.py"),
        ("python", "loose.part", "src/loose/part.py"),
        ("python", "six", "six.py"),
        ("python", "one", "libs/one/one/__init__.py"),
        ("javascript", "root", "lib/a.js"),
        ("javascript", "@x/ui/button", "ui/src/button.tsx"),
        ("go", "example.com/x", "main.go"),
        ("go", "example.com/x/pkg/money", "pkg/money/money.go"),
        ("go", "example.com/x/sub/v2/inner", "go/sub/inner/a.go"),
        ("rust", "other_name::rows", "rust/src/rows.rs"),
        ("java", "com.x.core", "core/src/main/java/com/x/core/Rates.java"),
        ("java", "com.x.core.Rates", "core/src/main/java/com/x/core/Rates.java"),
        ("java", "com.x.core.Any", "core/src/main/kotlin/com/x/core/Tools.kt"),
        ("java", "com.y", "old/src/com/y/Old.java"),
    ],
)
def test_a_module_of_a_package_is_its_file(family: str, module: str, path: str) -> None:
    packages = ProvidedPackages(PATHS, MANIFESTS)
    assert packages.provides(module, family)
    assert packages.names_file(module, path, family)


@pytest.mark.parametrize(
    ("family", "module"),
    [
        ("python", "script"), ("python", "inner"), ("python", ".plain"), ("python", "plainer"), ("python", "ns"),
        ("javascript", "./root"), ("javascript", "@x/uikit"), ("go", "example.com/y"), ("rust", "my_crate"),
        ("java", "com.x"), ("ruby", "six"),
    ],
)  # fmt: skip
def test_other_modules_are_of_no_package(family: str, module: str) -> None:
    assert not ProvidedPackages(PATHS, MANIFESTS).provides(module, family)


def test_a_module_of_another_package_is_no_file_of_this_one() -> None:
    packages = ProvidedPackages(PATHS, MANIFESTS)
    assert not packages.names_file("example.com/x/sub/v2", "main.go", "go")
    assert not packages.names_file("@x/ui", "lib/a.js", "javascript")
    assert not packages.names_file("plain.inner", "elsewhere/plain/inner/__init__.py", "python")
    assert not packages.names_file("com.x.core.Other", "core/src/main/java/com/x/core/Rates.java", "java")


def test_files_beside_the_importer_come_before_packages() -> None:
    paths = {"app/utils.py", "tests/data/rows.py", "app/parts/a.py"}
    assert is_beside("utils", "app/main.py", "python", paths.__contains__)
    assert is_beside("parts.a", "app/main.py", "python", paths.__contains__)
    assert is_beside("tests.data.rows", "app/main.py", "python", paths.__contains__)
    assert not is_beside("utils", "web/main.py", "python", paths.__contains__)
    assert not is_beside("utils", "app/main.ts", "javascript", paths.__contains__)
