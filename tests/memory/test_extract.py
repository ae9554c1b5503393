"""Text out of files, or a clear refusal."""

import builtins
from io import BytesIO
from typing import Any

import pypdf
import pytest

from gitmem.errors import UsageError
from gitmem.memory.documents import DocumentFields
from gitmem.memory.extract import extract, with_given

HTML = b"""<!doctype html><title>A  &amp; B</title><style>p {}</style><script>evil()</script>
<h1>Caching</h1><p>Keep it <b>small</b>.</p><ul><li>one<li>two</ul><pre>x = 1\n  y</pre>"""
MAIL = b"""From: Ann <ann@example.invalid>
To: Bob <bob@example.invalid>, Cy <cy@example.invalid>
Cc: bob@example.invalid
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Fri, 30 Jan 2026 12:00:00 +0100
Message-ID: <7@example.invalid>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Caf=E9 at noon.
--b
Content-Type: text/html

<p>other</p>
--b--
"""


def test_text_and_markdown_stay_as_they_are() -> None:
    data = "# Ä\r\n\r\n\ttext \n".encode()
    assert extract(data, "x.md").content.encode() == data
    assert extract(b"<p>no html", "x.txt").content == "<p>no html"


def test_html_becomes_markdown_without_scripts() -> None:
    made = extract(HTML, "x.html")
    assert made.fields == {"title": "A & B"}
    assert made.content.startswith("# Caching")
    assert "**small**" in made.content
    assert "- one" in made.content
    assert "x = 1\n  y" in made.content
    assert "evil" not in made.content
    assert "p {}" not in made.content
    assert extract(HTML, "standard input", "html") == made


def test_headers_of_a_mail_fill_the_fields() -> None:
    made = extract(MAIL, "x.eml")
    assert made.content.strip() == "Café at noon."
    assert made.fields == {
        "type": "email", "title": "Grüße", "author": "Ann <ann@example.invalid>", "source_system": "email",
        "source_id": "<7@example.invalid>", "participants": ("bob@example.invalid", "cy@example.invalid"),
        "time": "2026-01-30T12:00:00+01:00",
    }  # fmt: skip
    told = with_given(made.fields, {"title": "Other"})
    assert DocumentFields(**told).title == "Other"  # type: ignore[arg-type]


def test_a_mail_in_html_alone_is_read() -> None:
    made = extract(b"Subject: x\nContent-Type: text/html\n\n<p>Hello <b>you</b></p>", "x.eml")
    assert made.content == "Hello **you**"


def make_pdf(text: str) -> bytes:
    """A page with a line of text, or an empty one."""
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(200, 200)
    if text:
        font = writer._add_object(
            pypdf.generic.DictionaryObject(
                {
                    pypdf.generic.NameObject("/Type"): pypdf.generic.NameObject("/Font"),
                    pypdf.generic.NameObject("/Subtype"): pypdf.generic.NameObject("/Type1"),
                    pypdf.generic.NameObject("/BaseFont"): pypdf.generic.NameObject("/Helvetica"),
                }
            )
        )
        fonts = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/F1"): font})
        resources = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/Font"): fonts})
        page[pypdf.generic.NameObject("/Resources")] = resources
        stream = pypdf.generic.StreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
        page[pypdf.generic.NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata({"/Title": "A page"})
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def test_pdf_is_read_with_the_extra() -> None:
    made = extract(make_pdf("Hello PDF"), "whatever")
    assert made.content.strip() == "Hello PDF"
    assert made.fields == {"title": "A page"}


def test_pdf_without_the_extra_is_refused_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    known = builtins.__import__

    def missing(name: str, *args: Any, **options: Any) -> Any:
        if name == "pypdf":
            raise ImportError(name)
        return known(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UsageError) as caught:
        extract(b"%PDF-1.7", "a.pdf")
    assert "gitmem[pdf]" in caught.value.hint
    assert "pdftotext a.pdf -" in caught.value.hint


@pytest.mark.parametrize(
    ("data", "name", "told"),
    [
        (b"PK\x03\x04\0\0", "a.docx", "binary"),
        (b"caf\xe9", "a.txt", "no UTF-8"),
        (b"no headers\n\nhere", "a.eml", "no e-mail"),
        (b"Subject: x\nContent-Type: image/png\n\nx", "a.eml", "holds no text"),
        (b"Subject: x\nContent-Type: text/plain; charset=nonsense\n\nx\xff", "a.eml", "cannot be decoded"),
        (b"%PDF-1.7 broken", "a.pdf", "cannot be read as PDF"),
        (make_pdf(""), "a.pdf", "only pictures"),
    ],
)
def test_what_cannot_be_read_is_refused(data: bytes, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        extract(data, name)
