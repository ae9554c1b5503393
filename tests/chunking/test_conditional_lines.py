"""Conditions of C# in the middle of statements and declarations, which the parser does not know."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.conditional_lines import without_conditions
from gitmem.chunking.parse import parse_tree
from tests.chunking.names_in_file import names_of

LOGGER = """using System;
#if NETFRAMEWORK
using System.Web;
#else
using System.Net;
#endif

namespace Logs
{
    public sealed class Logger : ILogger, IDisposable
#if FEATURE_ASYNC
        , IAsyncDisposable
#endif
    {
#if DEBUG
        public int Opened() { return 1; }
#else
        public int Closed() { return 2; }
#endif
        // The text may be a span.
#if FEATURE_SPAN
        public void Process(ReadOnlySpan<char> text, // in pieces
#else
        public void Process(string text,
#endif
            out string message)
        {
            try { Write(text
#if FEATURE_SPAN
                .Trimmed()
#endif
                ); }
#if !NETSTANDARD
            catch (ThreadAbortException) { Stop(); }
#endif
            catch (Exception) { }
        }

        public string Name
        {
#if NET_4_0
            set { if (value == null) throw new ArgumentNullException("value"); }
#endif
            get { return "a"; }
        }
#if NET
        public
#else
        internal
#endif
        void Flush() { }
    }
}
"""


def test_declarations_around_conditions_are_whole() -> None:
    assert not parse_tree(LOGGER.encode(), "csharp", 10).root_node.has_error
    assert names_of(LOGGER, "csharp", "class") == ["Logger"]
    assert names_of(LOGGER, "csharp", "base") == ["ILogger", "IDisposable", "IAsyncDisposable"]
    # Both branches of a condition around whole members remain, and the first one of others.
    assert names_of(LOGGER, "csharp", "function") == ["Opened", "Closed", "Process", "Flush"]
    assert {"Stop", "Write"} <= set(names_of(LOGGER, "csharp", "call"))
    spans = [(each.symbol, each.start_line, each.end_line) for each in chunk_blob(LOGGER.encode(), "csharp").chunks]
    assert spans[1:] == [
        ("Logger", 10, 52),
        ("Logger.Opened", 16, 16),
        ("Logger.Closed", 18, 18),
        ("Logger.Process", 22, 37),
        ("Logger.Flush", 47, 51),
    ]


def test_places_in_generated_code_are_passed_over() -> None:
    text = 'class Page {\n#line 2 "..\\..\\Pages\\Home.cshtml"\n    void Run() { }\n#line default\n#line hidden\n}\n'
    assert not parse_tree(text.encode(), "csharp", 10).root_node.has_error
    assert names_of(text, "csharp", "function") == ["Run"]


@pytest.mark.parametrize(
    "text",
    [
        "class A { }\n#if X\nclass B { }\n#endif\n",
        "#if X\n[Old]\n#endif\nclass A { }\n",
        "#region a\n#endregion\n",
        "case 1:\n#if X\n    f();\n#else\n    g();\n#endif\n    break;\n",
        "#if X\n",
    ],
)
def test_conditions_around_whole_declarations_stay(text: str) -> None:
    assert without_conditions(text.encode(), "csharp") == text.encode()


@given(
    st.lists(
        st.sampled_from(
            [b"#if A", b"  #else", b"#elif B", b"#endif", b"#line 1", b"x, // y", b"f();", b"{", b"}", b""]
        ),
        max_size=30,
    )
)
def test_lines_and_length_stay(lines: list[bytes]) -> None:
    text = b"\n".join(lines)
    blanked = without_conditions(text, "csharp")
    assert re.sub(rb"[^\n]", b"", blanked) == re.sub(rb"[^\n]", b"", text)
    assert len(blanked) == len(text)
    assert all(new in (old, 32) for old, new in zip(text, blanked, strict=True))
