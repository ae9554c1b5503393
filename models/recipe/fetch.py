"""Download packages with the ordinary client of each registry: pip, npm, apt. No code of a package is run.

usage: python -m models.recipe.fetch FOLDER

Existing files are kept. A package that cannot be downloaded is reported and left out. Wheels and tarballs are stored as
they are. Source distributions (`pypi-source`) are the exception to the first paragraph: pip runs their build backend to
get metadata, so download those in a container.
"""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from models.recipe.contamination import is_excluded
from models.recipe.packages import Package, read_packages

_BATCH: Final = 20
"""Number of packages in one call of a client."""


def fetch(packages: Iterable[Package], folder: Path) -> list[Package]:
    """Download the packages missing from `folder`. Returns those that could not be downloaded."""
    missing: dict[str, list[Package]] = defaultdict(list)
    for package in packages:
        if not is_excluded(package.name) and find_archive(package, folder) is None:
            missing[package.registry].append(package)
    for registry, listed in missing.items():
        target = folder / registry
        target.mkdir(parents=True, exist_ok=True)
        for first in range(0, len(listed), _BATCH):
            some = listed[first : first + _BATCH]
            # A client fails as a whole if it lacks one package. Then each is requested on its own.
            if subprocess.run(_command(registry, some, target), cwd=target).returncode:
                for package in some:
                    subprocess.run(_command(registry, [package], target), cwd=target)
    return [package for listed in missing.values() for package in listed if find_archive(package, folder) is None]


def find_archive(package: Package, folder: Path) -> Path | None:
    """Return the file of a package in a folder filled by `fetch`, None if it is missing."""
    paths = sorted((folder / package.registry).glob(_pattern(package)))
    return paths[0] if paths else None


def _command(registry: str, packages: list[Package], target: Path) -> list[str]:
    names = {
        "pypi": [f"{p.name}=={p.version}" for p in packages],
        "npm": [f"{p.name}@{p.version}" for p in packages],
        "debian": [f"{p.name}={p.version}" for p in packages],
    }
    match registry:
        case "pypi" | "pypi-source":
            kind = "--only-binary" if registry == "pypi" else "--no-binary"
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", kind, ":all:", "-d", str(target)]
            return [*pip, *names["pypi"]]
        case "npm":
            return ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(target), *names["npm"]]
        case "debian":
            return ["apt-get", "-q", "download", *names["debian"]]
        case _:
            return ["apt-get", "-q", "source", "--download-only", *names["debian"]]


def _pattern(package: Package) -> str:
    """Return the pattern of the file name that a registry's client chooses."""
    name, version = package.name, package.version
    match package.registry:
        case "pypi":
            return f"{_spellings(name)}-{version}-*.whl"
        case "pypi-source":
            return f"{_spellings(name)}-{version}.tar.gz"
        case "npm":
            return f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
        case "debian":
            return f"{name}_{version.replace(':', '%3a')}_*.deb"
        case _:
            return f"{name}_{version.partition(':')[2] or version}.dsc"


def _spellings(name: str) -> str:
    """Return a pattern for all spellings of a name. For PyPI case, hyphens, dots and underscores are equivalent."""
    return "".join(
        "[-_.]" if sign in "-_." else f"[{sign.lower()}{sign.upper()}]" if sign.isalpha() else sign for sign in name
    )


def main(folder: Path) -> None:
    """Download the whole list."""
    missing = fetch(read_packages(), folder)
    for package in missing:
        print(f"not available: {package.registry} {package.name} {package.version}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
