"""The list of packages that the model is trained on: `packages.tsv`, one a line, under version control."""

import re
from pathlib import Path
from typing import Final, NamedTuple

LIST: Final = Path(__file__).with_name("packages.tsv")
REGISTRIES: Final = ("pypi", "pypi-source", "npm", "debian", "debian-source")


class Package(NamedTuple):
    """A package by registry, name and version; its licence as it names it, and the languages that are read from it."""

    registry: str
    name: str
    version: str
    licence: str
    languages: frozenset[str]

    @property
    def label(self) -> str:
        """The package's name with its registry, which pairs carry."""
        return f"{self.registry.removesuffix('-source')}:{self.name}"


def read_packages(path: Path = LIST) -> list[Package]:
    """Read the list; raise `ValueError` for a line that is not one package."""
    header, *lines = path.read_text().splitlines()
    if header.split("\t") != ["registry", "name", "version", "licence", "languages"]:
        raise ValueError(f"{path}: not a list of packages")
    return [_package(line) for line in lines]


def _package(line: str) -> Package:
    fields = line.split("\t")
    if len(fields) != 5 or fields[0] not in REGISTRIES or not all(fields):
        raise ValueError(f"not a package: {line!r}")
    return Package(*fields[:4], frozenset(fields[4].split()))


def family(name: str) -> str:
    """What the packages of one project are called alike: versions and a registry's own prefixes and endings gone."""
    name = re.sub(
        r"^(?:@[\w.-]+/|librust-|golang-(?:github-|gopkg-|golang-)?|haskell-|php-|ruby-|lua-|node-|python3?-|lib)",
        "",
        name.lower(),
    )
    name = re.sub(r"(?:-(?:dev|java|common|data|client))+$", "", name)
    return re.sub(r"[-.]?v?\d[\d.]*$", "", name) or name
