"""Downloads packages with the ordinary client of each registry: pip, npm, apt. Nothing of a package is run.

usage: python -m models.recipe.fetch FOLDER

What is there already stays; a package that cannot be had is named and left out. Wheels and tarballs are taken as they
are. Source distributions (`pypi-source`) are the exception to the first sentence: pip asks their build backend for
metadata, so run those in a container.
"""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from models.recipe.contamination import is_excluded
from models.recipe.packages import Package, read_packages

_TOGETHER: Final = 20
"""Packages a client is asked for at once."""


def fetch(packages: Iterable[Package], folder: Path) -> list[Package]:
    """Download what `folder` lacks; return the packages that could not be had."""
    wanted: dict[str, list[Package]] = defaultdict(list)
    for package in packages:
        if not is_excluded(package.name) and find_archive(package, folder) is None:
            wanted[package.registry].append(package)
    for registry, found in wanted.items():
        target = folder / registry
        target.mkdir(parents=True, exist_ok=True)
        for first in range(0, len(found), _TOGETHER):
            some = found[first : first + _TOGETHER]
            if subprocess.run(_command(registry, some, target), cwd=target).returncode:
                for package in some:
                    subprocess.run(_command(registry, [package], target), cwd=target)
    return [package for found in wanted.values() for package in found if find_archive(package, folder) is None]


def find_archive(package: Package, folder: Path) -> Path | None:
    """The file of a package in a folder that `fetch` filled."""
    places = sorted((folder / package.registry).glob(_pattern(package)))
    return places[0] if places else None


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
    """How a registry's client calls the file."""
    name, version = package.name, package.version
    match package.registry:
        case "pypi":
            return f"{_loose(name)}-{version}-*.whl"
        case "pypi-source":
            return f"{_loose(name)}-{version}.tar.gz"
        case "npm":
            return f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
        case "debian":
            return f"{name}_{version.replace(':', '%3a')}_*.deb"
        case _:
            return f"{name}_{version.partition(':')[2] or version}.dsc"


def _loose(name: str) -> str:
    """A name as files spell it: PyPI holds case, hyphens, dots and underscores for the same."""
    return "".join(
        "[-_.]" if sign in "-_." else f"[{sign.lower()}{sign.upper()}]" if sign.isalpha() else sign for sign in name
    )


def main(folder: Path) -> None:
    """Fetch the whole list."""
    missing = fetch(read_packages(), folder)
    for package in missing:
        print(f"not to be had: {package.registry} {package.name} {package.version}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
