"""Items in macros of Rust have their names, chunks and callers as if they stood outside."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.item_macros import find_item_macros, without_item_macros
from tests.chunking.names_in_file import names_of

CODE = """\
fn before() {}

pin_project! {
    /// A future.
    #[must_use = "futures do [nothing]"]
    pub struct Map<F> {
        #[pin]
        inner: F,
    }
}

impl<F> Map<F> {
    crate::cfg_net! {
        /// Opens.
        pub fn open(&self) -> u8 { helper(1) }

        pub(crate) const fn close(&self) {}
    }
}

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        fn plat() -> u8 { 1 }
    } else if #[cfg(all(windows, feature = "x"))] {
        fn other() -> u8 { 2 }
    } else {
        fn plat() -> u8 { 3 }
    }
}

lazy_static! {
    static ref TABLE: Map<u8> = make();
}

cfg_a! {
    cfg_b! {
        fn both() {}
    }
}

bitflags! {
    /// Flags.
    pub struct Flags: ffi::c_uint {
        const READ = 0b1;
        const WRITE = helper(2);
    }
}

fn last() {}
"""


def units_of(text: str) -> list[tuple[str, int, int]]:
    chunks = chunk_blob(text.encode(), "rust").chunks
    return [(each.symbol, each.start_line, each.end_line) for each in chunks if each.chunk_type != "module"]


def test_items_are_units_with_their_macro_and_documentation() -> None:
    assert units_of(CODE) == [
        ("before", 1, 1),
        ("Map", 3, 10),
        ("Map", 12, 19),
        ("Map.open", 13, 15),
        ("Map.close", 17, 18),
        ("plat", 21, 23),
        ("other", 24, 25),
        ("plat", 26, 29),
        ("TABLE", 31, 33),
        ("both", 35, 39),
        ("Flags", 41, 47),
        ("last", 49, 49),
    ]


def test_items_define_and_call_names() -> None:
    assert names_of(CODE, "rust", "class") == ["Map", "Flags"]
    assert names_of(CODE, "rust", "value") == ["-.inner", "-.TABLE", "-.READ", "-.WRITE"]
    macros = ["pin_project", "cfg_net", "cfg_if", "lazy_static", "cfg_a", "cfg_b", "bitflags"]
    calls = names_of(CODE, "rust", "call")
    assert [each for each in calls if each in macros] == macros
    assert [each for each in calls if each not in macros] == ["helper", "make", "helper"]


def test_macros_are_found_where_their_names_are() -> None:
    data = CODE.encode()
    assert all(data[start : start + len(name) + 1] == name + b"!" for start, name, *_ in find_item_macros(data))
    assert [each.text for each in find_item_macros(b"a::b! { fn x() {} }\n")] == [b"b"]


@pytest.mark.parametrize(
    "text",
    [
        # The text of code, an expression, and words that only the macro knows.
        "fn a() {\n    quote! {\n        pub struct Fixed {}\n    }\n}\n",
        "fn a() -> u8 {\n    cfg_if! {\n        if #[cfg(unix)] {\n            1\n        }\n    }\n}\n",
        "syscall! {\n    fn open(x: u8) via SYS_open -> u8\n}\n",
        "ffi_fn! {\n    fn make() -> *mut u8 {\n        x()\n    } ?= null()\n}\n",
        "let x = json! {\n    { a: 1 }\n};\n",
        # No end, an end at another place, and brackets that do not fit.
        "pin_project! {\n    pub struct A {}\n",
        "  pin_project! {\n    pub struct A {}\n}\n",
        "pin_project! {\n    fn a() { {\n    }\n}\n",
    ],
)
def test_other_macros_stay(text: str) -> None:
    assert without_item_macros(text.encode(), "rust") == text.encode()


def test_the_parser_gets_as_many_bytes() -> None:
    data = CODE.encode()
    free = without_item_macros(data, "rust")
    assert len(free) == len(data)
    assert free.count(b"\n") == data.count(b"\n")
    assert without_item_macros(data, "cpp") == data
    assert without_item_macros(b"a!{fn x() {}}\n", "rust").strip() == b"fn x() {}"


def test_a_macro_around_items_in_a_text_is_no_call() -> None:
    text = 'const CODE: &str = "\ncfg_net! {\n    fn f() {}\n}\n";\ncfg_if! {\n    fn g() {}\n}\n'
    assert names_of(text, "rust", "call") == ["cfg_if"]
