"""Default excludes: paths left out of every index unless a `!` line of `.gitmemignore` includes them.

`bin/`, `vendor/` and `third_party/` are not among them, because tracked files there are often written by hand.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

VENDORED_FOLDERS: Final = frozenset({b"node_modules", b"bower_components", b"jspm_packages", b"site-packages",
    b"venv", b".venv", b"virtualenv"})  # fmt: skip

OUTPUT_FOLDERS: Final = frozenset({b"dist", b"build", b"obj"})
"""Folders for build output. Files in them are excluded next to a package's manifest and at the top of the tree only,
and only if a build writes files of their type or all files of their folder.

A tracked folder of such a name elsewhere is source, like `doc/build/`: in 21 public repositories, none of the 290 files
in such folders was output. Next to a manifest there are two kinds: bundles and pages that are published, and scripts
that build the product, which people write.
"""

BUILT_EXTENSIONS: Final = frozenset({b".js", b".mjs", b".cjs", b".jsx", b".css", b".map", b".html", b".htm", b".json",
    b".java", b".kt", b".scala"})  # fmt: skip
"""Extensions of files that builds write in `build/` and `dist/`."""

BUILT_SUFFIXES: Final[Mapping[bytes, tuple[bytes, ...]]] = {
    b"build": (b".d.ts", b".d.mts", b".d.cts"),
    b"dist": (b".ts", b".tsx", b".mts", b".cts"),
}
"""Suffixes of such files by folder: other TypeScript in `build/` is a script that is written by hand."""

BUILT_SUBFOLDERS: Final = frozenset({b"libs", b"classes", b"generated", b"intermediates", b"outputs", b"reports",
    b"tmp", b"cmakefiles", b"_deps", b"static"})  # fmt: skip
BUILT_SUBFOLDER_PREFIXES: Final = (b"lib.", b"temp.", b"bdist.")
"""Folders in `build/` and `dist/` all of whose files are output, and beginnings of their names."""

_COPIES: Final = b"lib"
"""Folder to which `setup.py build` copies the modules of a package. Other files in it are helpers of scripts."""

MANIFESTS: Final = frozenset({b"package.json", b"pyproject.toml", b"setup.py", b"setup.cfg", b"pom.xml",
    b"build.gradle", b"build.gradle.kts", b"cmakelists.txt", b"cargo.toml", b"composer.json", b"mix.exs"})  # fmt: skip
MANIFEST_SUFFIXES: Final = (b".csproj", b".fsproj", b".vbproj", b".vcxproj")

GENERATED_FOLDERS: Final = frozenset({b"__pycache__", b".gitmem", b".git", b".tox", b".nox",
    b".mypy_cache", b".pytest_cache", b".ruff_cache", b".gradle", b".next", b".nuxt", b".svelte-kit", b".eggs",
    b"rag-reports"})  # fmt: skip

GENERATED_FOLDER_SUFFIXES: Final = (b".egg-info", b".dist-info")

LOCK_FILES: Final = frozenset({b"package-lock.json", b"npm-shrinkwrap.json", b"yarn.lock", b"pnpm-lock.yaml",
    b"bun.lock", b"bun.lockb", b"deno.lock", b"poetry.lock", b"pdm.lock", b"uv.lock", b"pipfile.lock", b"pixi.lock",
    b"conda-lock.yml", b"cargo.lock", b"gemfile.lock", b"composer.lock", b"go.sum", b"go.work.sum", b"mix.lock",
    b"podfile.lock", b"cartfile.resolved", b"package.resolved", b"pubspec.lock", b"packages.lock.json",
    b"paket.lock", b"flake.lock", b"gradle.lockfile", b"module.bazel.lock", b".terraform.lock.hcl", b"stack.yaml.lock",
    b"cabal.project.freeze", b"rebar.lock", b"shard.lock", b"chart.lock"})  # fmt: skip

GENERATED_SUFFIXES: Final = (b".min.js", b".min.mjs", b".min.cjs", b".min.css", b"-min.js", b"-min.css", b".js.map",
    b".mjs.map", b".cjs.map", b".css.map", b".ts.map", b"_pb2.py", b"_pb2.pyi", b"_pb2_grpc.py", b".pb.go",
    b".pb.gw.go", b".pb.cc", b".pb.h", b".pb.swift", b".pb.rb", b"_pb.rb", b"_pb.js", b"_pb.ts", b"_pb.d.ts", b".pb.ts",
    b".pbobjc.h", b".pbobjc.m", b".designer.cs", b".g.cs", b".g.dart", b".freezed.dart")  # fmt: skip

GENERATED_EXTENSIONS: Final = frozenset(tail[tail.rindex(b".") :] for tail in GENERATED_SUFFIXES)
"""Pre-filter: only names with these extensions are compared with GENERATED_SUFFIXES."""

BINARY_EXTENSIONS: Final = frozenset(
    b"." + name
    for names in (
        b"png jpg jpeg jpe gif bmp ico icns tif tiff webp avif heic heif psd ai xcf tga dds exr ktx pcx cur",
        b"zip gz tgz bz2 tbz tbz2 xz txz zst lz lz4 lzma 7z rar tar jar war ear aar apk ipa cab deb rpm dmg iso",
        b"whl egg nupkg gem crate vsix xpi crx appimage msi",
        b"ttf otf woff woff2 eot pfb pfm ttc",
        b"mp3 mp4 m4a m4v mov avi mkv webm wav flac ogg oga ogv opus aac wma wmv flv mid midi aiff 3gp",
        b"pdf doc docx xls xlsx xlsm ppt pptx odt ods odp epub mobi djvu",
        b"exe dll so dylib a o ko obj class pyc pyo pyd beam wasm elc rlib dex swf gch pch",
        b"sqlite sqlite3 npy npz pickle h5 hdf5 parquet feather onnx pth safetensors tflite",
        b"bin blend fbx glb keystore jks p12 pfx der pcap pcapng",
    )
    for name in names.split()
)


CREDENTIAL_NAMES: Final = frozenset({b"id_rsa", b"id_dsa", b"id_ecdsa", b"id_ed25519", b".netrc", b"_netrc", b".pgpass",
    b".my.cnf", b".mylogin.cnf", b".htpasswd", b".pypirc", b".git-credentials", b".dockercfg", b".s3cfg", b".boto",
    b".vault-token", b"credentials.json", b"client_secret.json", b"client_secrets.json", b"service-account.json",
    b"service_account.json", b"terraform.tfstate", b"terraform.tfstate.backup", b"master.key"})  # fmt: skip

CREDENTIAL_PATHS: Final = (b".aws/credentials", b".docker/config.json", b".kube/config")
CREDENTIAL_EXTENSIONS: Final = frozenset({b".key", b".pem", b".ppk", b".p8", b".kdbx", b".ovpn"})

PUBLIC_PARTS: Final = (b"cert", b"chain", b"crt", b"pub", b"root", b"bundle", b"trust", b"csr", b"dhparam")
"""Parts of names of files with certificates or public keys, which are no credentials."""

ENVIRONMENT_TEMPLATES: Final = (
    b"example",
    b"sample",
    b"template",
    b"tmpl",
    b"dist",
    b"default",
    b"defaults",
    b"schema",
)
"""Last parts of names of templates of `.env` files, which have no values."""


def package_folders(paths: Iterable[bytes]) -> frozenset[bytes]:
    """Return the folders of a tree that contain a package's manifest, and the top of the tree."""
    folders = {b""}
    for path in paths:
        folder, _, name = path.rpartition(b"/")
        if names_package(name):
            folders.add(folder)
    return frozenset(folders)


def names_package(name: bytes) -> bool:
    """Return whether a file of this name is a package's manifest."""
    name = name.lower()
    return name in MANIFESTS or name.endswith(MANIFEST_SUFFIXES)


def default_exclude(path: bytes, packages: Container[bytes] = frozenset((b"",))) -> str | None:
    """Return why a path is excluded by its name alone: `vendored`, `generated`, `binary` or `credentials`, else None.

    `packages` is the result of package_folders().
    """
    folders, _, name = path.rpartition(b"/")
    if folders:
        reason = _folder_reason(folders) or _output_reason(folders, name, packages)
        if reason is not None:
            return reason
    name = name.lower()
    dot = name.rfind(b".")
    if name in LOCK_FILES:
        return "generated"
    if _holds_credentials(path, name):
        return "credentials"
    if dot < 0:
        return None
    extension = name[dot:]
    if extension in BINARY_EXTENSIONS:
        return "binary"
    return "generated" if extension in GENERATED_EXTENSIONS and name.endswith(GENERATED_SUFFIXES) else None


def _holds_credentials(path: bytes, name: bytes) -> bool:
    """Return whether a file is made to hold keys or passwords, by its path and its name in lower case."""
    if name in CREDENTIAL_NAMES or path.endswith(CREDENTIAL_PATHS):
        return True
    if name.startswith(b".env"):
        return name == b".env" or (name.startswith(b".env.") and not name.endswith(ENVIRONMENT_TEMPLATES))
    # A `.pem` or `.key` file may hold a certificate or a public key, and then its name says so.
    dot = name.rfind(b".")
    return name[dot:] in CREDENTIAL_EXTENSIONS and not any(part in name for part in PUBLIC_PARTS)


def _folder_reason(folders: bytes) -> str | None:
    for folder in folders.split(b"/"):
        if folder in VENDORED_FOLDERS:
            return "vendored"
        if folder in GENERATED_FOLDERS or folder.endswith(GENERATED_FOLDER_SUFFIXES):
            return "generated"
    return None


def _output_reason(folders: bytes, name: bytes, packages: Container[bytes]) -> str | None:
    parts = folders.split(b"/")
    for place, folder in enumerate(parts):
        if folder in OUTPUT_FOLDERS and b"/".join(parts[:place]) in packages:
            return "generated" if folder == b"obj" or _is_built(folder, parts[place + 1 :], name.lower()) else None
    return None


def _is_built(output: bytes, subfolders: Sequence[bytes], name: bytes) -> bool:
    """Return whether a build writes a file of this name, in lower case, in these subfolders of an output folder."""
    if subfolders:
        first = subfolders[0].lower()
        if first in BUILT_SUBFOLDERS or first.startswith(BUILT_SUBFOLDER_PREFIXES):
            return True
        if first == _COPIES and name.endswith(b".py"):
            return True
    return name[name.rfind(b".") :] in BUILT_EXTENSIONS or name.endswith(BUILT_SUFFIXES[output])
