"""Declarations of Kotlin that the parser mistakes for expressions, or cuts off, are units with their annotations."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.kotlin_heads import with_plain_heads
from gitmem.chunking.parse import parse_tree
from gitmem.types import OCCURRENCE_KINDS
from tests.chunking.names_in_file import names_of

_SCREEN = """\
package com.example

import a.b.Cart

@Module
@InstallIn(SingletonComponent::class)
object AppModule {
    @Provides
    fun cart(): Cart = Cart()
}

/** Shows it. */
@Preview(
    name = "A (b",
    showBackground = true,
)
@Composable
private fun CartPreview() {
    CartScreen(Cart())
}

@Qualifier
@Retention(AnnotationRetention.BINARY)
annotation class Fast

@Qualifier
annotation class Slow

class Reader
    @JvmOverloads
    internal constructor(
        private val limit: Int,
    ) : Closeable {
        fun read() = limit
    }

@Inject lateinit var reader: Reader
"""


def units(text: str) -> dict[str, tuple[str, int, int]]:
    chunks = chunk_blob(text.encode(), "kotlin").chunks
    found = [unit for chunk in chunks for unit in (chunk.units or (chunk,)) if unit.symbol]
    return {unit.symbol: (unit.chunk_type, unit.start_line, unit.end_line) for unit in found}


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
def test_annotated_declarations_are_units(feed: str) -> None:
    assert units(_SCREEN.replace("\n", feed)) == {
        "AppModule": ("class", 5, 10),
        "AppModule.cart": ("method", 8, 9),
        "CartPreview": ("function", 12, 20),
        "Fast": ("class", 22, 24),
        "Slow": ("class", 26, 27),
        "Reader": ("class", 29, 35),
        "Reader.read": ("method", 34, 34),
        "reader": ("property", 37, 37),
    }


def test_annotations_are_decorators_with_types() -> None:
    lines, kinds, names, _ = chunk_blob(_SCREEN.encode(), "kotlin").names
    found = {
        (line, OCCURRENCE_KINDS[kind], name.decode()) for line, kind, name in zip(lines, kinds, names, strict=True)
    }
    expected = {
        (5, "decorator", "Module"), (6, "decorator", "InstallIn"), (6, "type", "SingletonComponent"),
        (13, "decorator", "Preview"), (17, "decorator", "Composable"), (23, "type", "AnnotationRetention"),
        (37, "decorator", "Inject"),
    }  # fmt: skip
    assert expected <= found
    assert not {name for *_, name in found} & {"A", "true"}


def test_other_text_keeps_its_form() -> None:
    for text in (
        '@file:JvmName("A")\n',
        "\n@file:Suppress\n",
        "val x = 1\n",
        "\n@Inject val x = 1\n",
        "class A {\n    @B\n}\n",
    ):
        data = text.encode()
        assert with_plain_heads(data, data, "kotlin") == data
    data = _SCREEN.encode()
    assert with_plain_heads(data, data, "java") == data
    assert len(with_plain_heads(data, data, "kotlin")) == len(data)


def test_an_annotation_in_a_text_has_no_name() -> None:
    names = chunk_blob(b'val text = """\n@Preview\nfun f() {}\n"""\n/*\n@Composable\n*/\n', "kotlin").names
    assert not {b"Preview", b"Composable"} & set(names[2])


def test_newer_forms_hide_no_function() -> None:
    text = """class Tool {
    context(session: a.KaSession, log: Logger)
    private fun first() = (0..<3).any { it == 2 }

    context(session: KaSession) fun second(kind: Int) = when (kind) {
        1,
        2,
        -> $$"a $${kind}"
        else -> $$\"\"\"b\"\"\"
    }

    fun third() = all.map(KClass<*>::name)
}
class Data
internal actual constructor(internal actual val bytes: Int) {
    fun fourth() {}
}
"""
    assert names_of(text, "kotlin", "function") == ["-.first", "second", "third", "fourth"]
    assert names_of(text, "kotlin", "type")[:3] == ["KaSession", "Logger", "KaSession"]
    assert names_of(text, "kotlin", "class") == ["Tool", "Data"]
    assert not parse_tree(text.encode(), "kotlin", 10).root_node.has_error
