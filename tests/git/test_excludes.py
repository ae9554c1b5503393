"""Default excludes by name."""

import pytest

from gitmem.git.excludes import default_exclude, package_folders


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".env", "credentials"),
        ("app/.env.production", "credentials"),
        ("app/.ENV.local", "credentials"),
        (".env.example", None),
        (".env.production.template", None),
        (".envrc", None),
        ("src/env.py", None),
        ("ssh/id_rsa", "credentials"),
        ("ssh/id_rsa.pub", None),
        ("tls/server.key", "credentials"),
        ("tls/server.pem", "credentials"),
        ("tls/ca-cert.pem", None),
        ("tls/public.key", None),
        ("tls/server.crt", None),
        (".netrc", "credentials"),
        ("home/.pgpass", "credentials"),
        ("google/credentials.json", "credentials"),
        ("home/.aws/credentials", "credentials"),
        ("src/credentials.py", None),
        ("lib/key.ts", None),
        ("node_modules/a/index.js", "vendored"),
        ("web/node_modules/a/index.js", "vendored"),
        (".venv/lib/a.py", "vendored"),
        ("pkg/__pycache__/a.cpython-311.pyc", "generated"),
        ("dist/app.js", "generated"),
        ("build/b/c.html", "generated"),
        ("obj/project.assets.json", "generated"),
        ("src/name.egg-info/PKG-INFO", "generated"),
        (".gitmem/manifest", "generated"),
        ("package-lock.json", "generated"),
        ("deep/Cargo.lock", "generated"),
        ("Gemfile.lock", "generated"),
        ("static/jquery.MIN.js", "generated"),
        ("static/app.css.map", "generated"),
        ("api/service_pb2.py", "generated"),
        ("api/service.pb.go", "generated"),
        ("logo.PNG", "binary"),
        ("a/b.tar.gz", "binary"),
        ("fonts/x.woff2", "binary"),
        ("pkg-1.0-py3-none-any.whl", "binary"),
        ("doc.pdf", "binary"),
        ("lib.so", "binary"),
    ],
)
def test_well_known_names_are_excluded_with_their_reason(path: str, reason: str) -> None:
    assert default_exclude(path.encode()) == reason


@pytest.mark.parametrize(
    "path",
    ["bin/run", "bin/deploy.sh", "vendor/lib/a.go", "third_party/x.c", "src/build.py", "build", "dist", "obj",
     "builder/a.py", "Makefile", ".gitignore", "a.min.txt", "map.js", "sitemap", "logo.svg", "data.csv", "go.mod",
     "lock.py",
     "yarn.lock.md", "pb2.py", ".png", "archive.zip/readme.txt", "egg-info/a.py", "", "a.", "caf\udce9.py"],
)  # fmt: skip
def test_names_of_hand_written_files_are_included(path: str) -> None:
    expected = "binary" if path == ".png" else None
    assert default_exclude(path.encode("utf-8", "surrogateescape")) == expected


PACKAGES = package_folders([b"web/package.json", b"App/App.csproj", b"doc/Makefile"])


@pytest.mark.parametrize(
    "path",
    ["web/dist/app.js", "web/dist/esm/index.d.ts", "web/dist/src/index.ts", "web/dist/index.d.mts",
     "App/obj/x.json", "App/obj/Debug/Info.cs",
     "build/index.html", "build/types/a.d.ts", "build/static/media/a.txt", "build/lib/package/a.py",
     "build/lib.linux-x86_64/package/a.py", "build/generated/sources/A.java", "build/CMakeFiles/link.txt"],
)  # fmt: skip
def test_build_output_is_excluded_next_to_a_manifest(path: str) -> None:
    assert default_exclude(path.encode(), PACKAGES) == "generated"


@pytest.mark.parametrize(
    "path",
    ["build/publish.ts", "build/cmake/FindAnt.cmake", "build/docker/ubuntu/Dockerfile",
     "build/lib/i18n.ts", "build/release/notes.sh", "build/build_debs.sh",
     "web/build/Deploy.ps1", "web/dist/windows/installer.nsi", "build/lib", "dist/app.service", "dist/a.b.py",
     "doc/build/index.rst", "doc/build/index.html", "src/luarocks/build/cmake.lua", "app/dist/app.js"],
)  # fmt: skip
def test_scripts_that_build_the_product_are_source(path: str) -> None:
    assert default_exclude(path.encode(), PACKAGES) is None
