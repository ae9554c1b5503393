"""Links and definitions that are read from pages of rustdoc."""

from pathlib import Path

from tests.bench.definition_calls import AskedCall
from tests.bench.rust_pages import find_definition, read_links

PAGE = """<!DOCTYPE html><body><pre class="rust"><code><a href=#1 id=1 data-nosnippet>1</a><span class="doccomment">/// A &lt;b&gt;
<a href=#2 id=2 data-nosnippet>2</a></span><span class="kw">use </span><a href="load/mod.rs.html#1-4">crate::Load</a>;
<a href=#3 id=3 data-nosnippet>3</a>fn run(d: <a href="load/mod.rs.html#5">Dog</a>) { <a class="self" href="#3">d</a>.<a href="load/mod.rs.html#2">go</a>(); <a href="https://doc.rust-lang.org/core/trait.Clone.html#tymethod.clone">copy</a>(); <a href="https://doc.rust-lang.org/core/fn.drop.html">drop</a>() }</code></pre></body>
"""  # noqa: E501 (a page as rustdoc writes it)

LOAD = """pub trait Load {
    fn go(&self);
}

pub struct Dog;
impl Load for Dog {
    fn go(&self) {}
}
impl<'a, A: Load> Load for &'a A {
    fn go(&self) {}
}
"""


def test_links_are_read_by_line_and_column() -> None:
    links = read_links(PAGE)
    assert [(each.start, each.end, each.address) for each in links[2]] == [(4, 15, "load/mod.rs.html#1-4")]
    assert [(each.start, each.end) for each in links[3]][:3] == [(10, 13), (17, 18), (19, 21)]


def test_a_call_of_a_trait_means_the_trait_and_the_types_that_implement_it(tmp_path: Path) -> None:
    (tmp_path / "load").mkdir()
    (tmp_path / "load" / "mod.rs").write_text(LOAD)
    (tmp_path / "lib.rs").write_text("/// A <b>\nuse crate::Load;\nfn run(d: Dog) { d.go(); copy(); drop() }\n")
    pages = {"lib.rs": read_links(PAGE), "load/mod.rs": {}}

    def ask(column: int) -> object:
        return find_definition(tmp_path, pages, AskedCall("lib.rs", 3, column))

    assert ask(19) == {("load/mod.rs", 2), ("load/mod.rs", 7)}
    assert ask(10) == {("load/mod.rs", 5)}
    assert ask(17) is None  # a parameter
    assert ask(25) is None  # a trait of a library, which the repository may implement
    assert ask(33) == set()
    assert ask(3) is None  # no link
