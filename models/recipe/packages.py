"""Read the list of training packages: `packages.tsv`, one on each line, under version control."""

import re
from pathlib import Path
from typing import Final, NamedTuple

LIST: Final = Path(__file__).with_name("packages.tsv")
REGISTRIES: Final = ("pypi", "pypi-source", "npm", "debian", "debian-source")


class Package(NamedTuple):
    """Package of a registry, with its licence as it declares it, and the languages that are read from it."""

    registry: str
    name: str
    version: str
    licence: str
    languages: frozenset[str]

    @property
    def label(self) -> str:
        """Name of the package with its registry, as stored in pairs."""
        return f"{self.registry.removesuffix('-source')}:{self.name}"


def read_packages(path: Path = LIST) -> list[Package]:
    """Read the list. Raises ValueError for an invalid line."""
    header, *lines = path.read_text().splitlines()
    if header.split("\t") != ["registry", "name", "version", "licence", "languages"]:
        raise ValueError(f"{path}: not a list of packages")
    return [_package(line) for line in lines]


def _package(line: str) -> Package:
    fields = line.split("\t")
    if len(fields) != 5 or fields[0] not in REGISTRIES or not all(fields):
        raise ValueError(f"not a package: {line!r}")
    registry, name, version, licence, languages = fields
    return Package(registry, name, version, licence, frozenset(languages.split()))


def family(name: str) -> str:
    """Return the name common to all packages of a project, without versions and the affixes of registries."""
    # `librust-alpha-0.4-dev`, `python3-alpha` and `@scope/alpha` all become `alpha`.
    name = re.sub(
        r"^(?:@[\w.-]+/|librust-|golang-(?:github-|gopkg-|golang-)?|haskell-|php-|ruby-|lua-|node-|python3?-|lib)",
        "",
        name.lower(),
    )
    name = re.sub(r"(?:-(?:dev|java|common|data|client))+$", "", name)
    return re.sub(r"[-.]?v?\d[\d.]*$", "", name) or name
