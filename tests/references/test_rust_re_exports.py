"""Re-exports of Rust, also in a crate whose modules import all names of each other."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

COUNT = 150
"""Modules in a row that import all names of the one before and of the one after."""

FILES = {
    "src/lib.rs": "pub use crate::common::*;\npub mod common;\npub mod read;\npub use crate::read::Reader;\n",
    "src/common.rs": "use super::*;\npub fn shared() {}\n",
    "src/read/mod.rs": "".join(f"mod m{number};\npub use self::m{number}::*;\n" for number in range(COUNT)),
    **{
        f"src/read/m{number}.rs": f"use super::*;\nuse crate::read::m{(number + 1) % COUNT}::*;\n"
        f"pub fn load_{number}() {{ read_word(); shared(); Some(1); }}\n"
        for number in range(COUNT)
    },
    "src/read/m7.rs": "pub struct Reader;\nimpl Reader { pub fn read_word(&self) {} }\npub mod deep;\n",
    "src/read/m7/deep.rs": "pub fn plunge() {}\n",
    "src/use.rs": "use crate::Reader;\nfn run(reader: Reader) { reader.read_word(); crate::read::deep::plunge(); }\n",
}


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("crate"), FILES) as searcher:
        yield searcher


def test_a_chain_of_modules_that_import_each_other_ends(crate: Searcher) -> None:
    assert "src/use.rs:2" in places(crate, "Reader.read_word", "callers")
    assert "src/read/m3.rs:3" in places(crate, "shared", "callers")
    assert len(places(crate, "Some", "callers")) == 100  # the limit


def test_a_module_in_one_that_is_re_exported_is_known_without_it(crate: Searcher) -> None:
    assert places(crate, "plunge", "callers") == ["src/use.rs:2"]
