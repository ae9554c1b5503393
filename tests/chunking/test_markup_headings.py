"""Sections of reStructuredText, AsciiDoc, LaTeX, Typst, Org, Texinfo, manual pages and POD."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.elements import find_elements
from tests.chunking.coverage_check import assert_sound

BODY = "\n\nA sentence that says something about the part.\n\n"


def sections(text: str, language: str) -> list[str]:
    """Return the symbols of the chunks of a text in which each heading is followed by `BODY`."""
    data = text.replace("@@", BODY).encode()
    blob = chunk_blob(data, language)
    assert_sound(data, blob)
    assert blob.parsed
    return [element.symbol for element in find_elements(data, language).elements]


def test_the_order_of_adornments_gives_the_levels() -> None:
    text = "=====\nGuide\n=====@@First\n=====@@Part of it\n----------@@Second\n======@@"
    assert sections(text, "rst") == ["Guide", "Guide > First", "Guide > First > Part of it", "Guide > Second"]


@pytest.mark.parametrize(
    "text",
    [
        "text above\nNot a title\n-----------\n",  # a line of a paragraph
        "  indented\n----------\n",
        "one two three four\n---\n",  # too short an underline
        "a paragraph\n\n----------\n\nand another\n",  # a transition
        "=====  =====\nA      B\n=====  =====\n",  # a table
    ],
)
def test_other_lines_of_signs_are_no_headings(text: str) -> None:
    assert sections(f"Title\n=====@@{text}", "rst") == ["Title"]


def test_markup_in_a_title_is_removed() -> None:
    assert sections("The :class:`Flask` and ``run`` of `us <x.html>`_\n" + "=" * 50 + "@@", "rst") == [
        "The Flask and run of us"
    ]


def test_titles_in_verbatim_blocks_of_asciidoc_are_none() -> None:
    text = "= Manual@@== Use `it`@@----\n== no\n----@@....\n== nor this\n....@@=== Deep@@"
    assert sections(text, "asciidoc") == ["Manual", "Manual > Use it", "Manual > Use it > Deep"]


def test_two_line_titles_of_asciidoc() -> None:
    text = "git-add(1)\n==========@@NAME\n----@@\nlisting follows a longer line\n----\n== no\n----@@"
    assert sections(text, "asciidoc") == ["git-add(1)", "git-add(1) > NAME"]


def test_sections_of_latex() -> None:
    text = "\\chapter{Basics}@@\\section[short]{The \\emph{core} part\\label{x}}@@"
    text += "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\section*{Next}@@"
    assert sections(text, "latex") == ["Basics", "Basics > The core part", "Basics > Next"]


def test_headings_of_typst() -> None:
    text = "= The *core* <core>@@```typ\n= no\n```\n== Use `it`@@#let x = 1\n"
    assert sections(text, "typst") == ["The core", "The core > Use it"]


def test_headlines_of_org() -> None:
    text = "* TODO Plan :tag:@@** Step@@#+begin_src org\n* no\n#+end_src\n* Rest@@"
    assert sections(text, "org") == ["Plan", "Plan > Step", "Rest"]


def test_chapters_of_texinfo() -> None:
    text = "@top Manual@@@chapter Using @code{it}@@@section Options@@@subsection Deep@@@appendix Copying@@"
    assert sections(text, "texinfo") == [
        "Manual", "Manual > Using it", "Manual > Using it > Options", "Manual > Using it > Options > Deep",
        "Manual > Copying",
    ]  # fmt: skip


def test_headings_of_a_manual_page_are_found_by_its_content() -> None:
    text = '.\\" comment\n.TH TOOL 1\n.SH NAME@@.SH "OPTIONS"@@.SS \\fB-v\\fR@@'
    assert sections(text, "text") == ["NAME", "OPTIONS", "OPTIONS > -v"]


def test_commands_of_pod() -> None:
    assert sections("=head1 METHODS@@=head2 C<new>@@=head1 SEE L<Other>@@", "pod") == [
        "METHODS", "METHODS > new", "SEE Other",
    ]  # fmt: skip
