"""Methods of traits in Rust: of parameters of types, of attributes, and those that a crate adds to other types."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "src/lib.rs": """pub trait Walk {
    fn next_step(&self) -> u32;
    fn from_word(word: u32) -> Self;
}
pub trait Other { fn next_step(&self) -> u32; }
pub struct Dog;
impl Walk for Dog { fn next_step(&self) -> u32 { 1 } fn from_word(_: u32) -> Dog { Dog } }
impl<'a, A: Walk + ?Sized> Walk for &'a A { fn next_step(&self) -> u32 { (**self).next_step() } }
impl Walk for u32 { fn next_step(&self) -> u32 { 2 }
    fn from_word(word: u32) -> u32 { word } }
impl Other for str { fn next_step(&self) -> u32 { 3 } }
pub mod steps { pub fn go(_: u32) {} }
""",
    "src/run.rs": """use crate::Walk;
pub fn by_bound<A: Clone + Walk>(aut: A) -> u32 { aut.next_step() }
pub fn by_where<Input>(input: Input) -> u32
where
    Input: 'static + crate::Walk,
{
    input.next_step()
}
pub fn by_none<T>(t: T) -> u32 { t.next_step() }
pub fn by_library<F: Fn(u32) -> u32>(f: F) -> u32 { f.next_step() }
pub fn of_paths(all: Vec<u32>) { all.iter().map(crate::Walk::next_step).map(next_step).map(crate::steps::go); }
pub fn of_number() { let x = u32::from_word(3); let y = u64::from_word(4); }
""",
    "src/held.rs": """pub struct Held<W> { inner: W }
impl<W> Held<W> where W: crate::Walk {
    fn go(&self) -> u32 { self.inner.next_step() }
}
""",
}


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("crate"), FILES) as searcher:
        yield searcher


def test_a_parameter_has_the_methods_of_its_trait(crate: Searcher) -> None:
    callers = places(crate, "Walk.next_step", "callers")
    assert {"src/run.rs:2", "src/run.rs:7", "src/held.rs:3"} <= set(callers)  # each the only definition
    assert not {"src/run.rs:2", "src/run.rs:7", "src/held.rs:3"} & set(places(crate, "Dog.next_step", "callers"))


def test_a_call_of_a_trait_may_run_each_implementation(crate: Searcher) -> None:
    callers = places(crate, "Dog.next_step", "callers")
    through = {f"{place} (Walk.next_step)" for place in ("src/run.rs:2", "src/run.rs:7", "src/held.rs:3")}
    assert through <= set(callers)
    assert through <= set(places(crate, "u32.next_step", "callers"))  # the type is none of the crate
    assert not through & set(places(crate, "str.next_step", "callers"))


def test_a_path_passes_a_method(crate: Searcher) -> None:
    assert places(crate, "Walk.next_step", "mentions") == ["src/run.rs:11"]
    assert places(crate, "steps.go", "mentions") == ["src/run.rs:11"]
    assert places(crate, "steps", "mentions") == []  # as in other paths
    assert "src/run.rs:11 (Walk.next_step)" in places(crate, "Dog.next_step", "mentions")


@pytest.mark.parametrize("line", [9, 10])
def test_one_without_a_trait_of_the_crate_may_have_any(crate: Searcher, line: int) -> None:
    callers = places(crate, "Walk.next_step", "callers")
    assert any(each.startswith(f"src/run.rs:{line} ") for each in callers)


def test_a_number_has_only_what_the_crate_adds_to_it(crate: Searcher) -> None:
    assert places(crate, "src/lib.rs:10", "callers") == ["src/run.rs:12"]
    assert not any(each.startswith("src/run.rs") for each in places(crate, "Dog.from_word", "callers"))
