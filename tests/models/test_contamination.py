"""The evaluation sets are excluded from training, by name and as copies."""

from pathlib import Path

import pytest

from models.recipe.contamination import digests_of_folders, is_excluded
from models.recipe.corpus import Corpus
from models.recipe.packages import LIST, read_packages
from models.recipe.pairs import iter_pairs, read_source

CODE = b"""
# Adds the tax of a country to a net price.
def gross_price(net, country, rates):
    rate = rates.get(country, rates.default)
    return round(net * (1 + rate), 2)
"""


@pytest.mark.parametrize(
    "name",
    ["requests", "python3-flask", "@reduxjs/toolkit", "golang-github-gin-gonic-gin-dev", "librust-serde-json-dev",
     "libgoogle-gson-java", "libuv1", "fmtlib", "php-guzzlehttp-psr7", "haskell-aeson", "rails", "lodash.merge",
     "jackson-core", "bats", "Rich"],
)  # fmt: skip
def test_an_evaluated_project_is_excluded_under_its_names_in_registries(name: str) -> None:
    assert is_excluded(name)


@pytest.mark.parametrize("name", ["richdem", "expressway", "threejs-not", "libzmq", "redux-saga", "curlie"])
def test_a_project_with_a_similar_name_is_not_excluded(name: str) -> None:
    assert not is_excluded(name)


def test_the_list_contains_each_package_once_and_no_excluded_one() -> None:
    packages = read_packages(LIST)
    names = [(package.registry, package.name) for package in packages]
    assert len(names) == len(set(names))
    assert not [package.name for package in packages if is_excluded(package.name)]


def test_code_copied_from_an_evaluation_repository_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "evaluated" / "src").mkdir(parents=True)
    (tmp_path / "evaluated" / "src" / "price.py").write_bytes(CODE)
    source = read_source(CODE.replace(b"# Adds the tax", b"# Puts the tax"), "python", "copy.py")
    assert source is not None
    pairs = list(iter_pairs(source))
    assert list(Corpus().take(pairs)) == pairs
    assert not list(Corpus(digests_of_folders([tmp_path / "evaluated"])).take(pairs))
