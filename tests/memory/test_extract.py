"""Extracting the text of files, and refusing files that cannot be read completely."""

import logging
from io import BytesIO

import pypdf
import pytest

from gitmem.errors import UsageError
from gitmem.memory.document import DocumentFields, check_fields
from gitmem.memory.extract import extract, merge_fields

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


def test_text_and_markdown_are_not_changed() -> None:
    data = "# Ä\r\n\r\n\ttext \n".encode()
    assert extract(data, "x.md").content.encode() == data
    assert extract(b"<p>no html", "x.txt").content == "<p>no html"


def test_html_becomes_markdown_without_scripts() -> None:
    extracted = extract(HTML, "x.html")
    assert extracted.fields == {"title": "A & B"}
    assert extracted.content.startswith("# Caching")
    assert "Keep it small." in extracted.content
    assert "- one" in extracted.content
    assert "x = 1\n  y" in extracted.content
    assert "evil" not in extracted.content
    assert "p {}" not in extracted.content
    assert extract(HTML, "standard input", "html") == extracted


def read_page(page: str) -> str:
    """Return the text of a page."""
    return extract(page.encode(), "x.html").content


SITE = """<body><header>Site</header><div role="search">Search</div><nav>Home</nav>
{content}<div role="contentinfo">About</div><footer>Imprint</footer></body>"""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<p>News</p><main><h1>Text</h1></main>", "# Text"),
        ("<p>News</p><div role='main'>Text</div>", "Text"),
        ("<main></main><p>Text</p>", "Text"),
        ("<article><header>By A</header><p>Text</p><footer>2026</footer></article>", "By A\n\nText\n\n2026"),
        ("", "Site\n\nSearch\n\nHome\n\nAbout\n\nImprint"),
    ],
    ids=["main", "role", "empty main", "article", "nothing else"],
)
def test_navigation_around_the_content_of_a_page_is_left_out(content: str, expected: str) -> None:
    assert read_page(SITE.format(content=content)) == expected


def test_names_in_html_are_not_escaped() -> None:
    page = "<p>Set <code>snake_case_option_name</code> to 3*4, see [x] and <b>a_b</b> # 1.</p>"
    assert read_page(page) == "Set snake_case_option_name to 3*4, see [x] and a_b # 1."


def test_a_row_of_a_table_becomes_a_line() -> None:
    data = "<tr><th>Name<th>Value</tr><tr><td><p>a_b</p><td>one<br>two<tr><td>c<td><td>d"
    assert read_page(f"<p>Before<table>{data}</table>after") == (
        "Before\n\nName | Value\na_b | one two\nc |  | d\n\nafter"
    )


def test_cells_of_a_layout_table_become_paragraphs() -> None:
    inner = "<table><tr><td>x<td>y</table>"
    page = f"<table><tr><td>Aside<td><h2>News</h2><p>One<p>Two{inner}<tr><td><p>A<p>B</table>"
    assert read_page(page) == "Aside\n\n## News\n\nOne\n\nTwo\n\nx | y\n\nA\n\nB"


def test_hidden_elements_of_a_page_are_left_out() -> None:
    hidden = "<noscript>no</noscript><template><p>no</template><style>no</style><script>no</script><!-- no -->"
    assert read_page(f"<head><title>T</title>{hidden}</head><p>Yes{hidden}<iframe>no</iframe>") == "Yes"


def test_headings_lists_quotes_and_links_become_markdown() -> None:
    assert read_page("<h2><div>A <i>b</i><br>c</div></h2>text") == "## A b c\n\ntext"
    assert read_page("<ul><li>one<ul><li>in</ul><li><p>two</ul><p>x<ol><li>a<li>b</ol>") == (
        "- one\n  - in\n- two\n\nx\n\n1. a\n2. b"
    )
    assert read_page("<blockquote>a<br>b</blockquote>c") == "> a\n> b\n\nc"
    links = "<a href=https://a.invalid/x_y>here</a>, <a href=#top>top</a>, <a href=https://b.invalid><img></a>"
    assert read_page(f"{links}, <img alt=Logo>") == "here <https://a.invalid/x_y>, top, , Logo"


def test_code_in_html_is_fenced_and_keeps_its_lines() -> None:
    assert read_page("<pre>\nif x:\n\n    <b>y</b> * 2\n</pre>z") == "```\nif x:\n\n    y * 2\n```\n\nz"
    assert read_page("<pre><div>a</div><div>b<br>```</div></pre>") == "````\na\nb\n```\n````"
    assert read_page("<p>x<pre> </pre>") == "x"


@pytest.mark.parametrize("tag", ["<div>", "<ul><li>", "<blockquote>", "<table><tr><td>", "<pre>", "<h1>"])
def test_deeply_nested_html_is_read(tag: str) -> None:
    assert "x" in read_page(tag * 5000 + "x")


@pytest.mark.parametrize(
    "data",
    [
        "<p>Café €".encode(),
        "<p>Café €".encode("cp1252"),
        "\ufeff<meta charset=iso-8859-1><p>Café €".encode(),
        "\ufeff<meta charset=iso-8859-1><p>Café €".encode("utf-16"),
        "<meta charset=iso-8859-1><p>Café €".encode("cp1252"),
        "<!-- <meta charset=koi8-r> --><meta charset=utf-16><p>Café €".encode(),
        b'<?xml version="1.0" encoding="iso-8859-15"?><p>' + "Café €".encode("iso-8859-15"),
        b"<meta http-equiv=content-type content='text/html; charset=utf-8'><p>" + "Café €".encode("cp1252"),
    ],
)
def test_html_is_decoded_in_its_declared_charset_unless_that_is_wrong(data: bytes) -> None:
    assert extract(data, "x.html").content == "Café €"


def test_a_page_in_a_mail_is_decoded_in_the_charset_of_the_mail() -> None:
    head = b"Subject: x\nContent-Type: text/html; charset=utf-8\n\n<meta charset=iso-8859-1>"
    assert extract(head + "<p>Café".encode(), "x.eml").content == "Café"


@pytest.mark.parametrize("blank", [b"", b" \n\xa0\n"])
def test_a_blank_part_is_skipped(blank: bytes) -> None:
    mail = MAIL.replace(b"Caf=E9 at noon.", blank)
    assert extract(mail, "x.eml").content == "other"
    assert extract(mail.replace(b"<p>other</p>", b"<p> "), "x.eml").content.strip() == ""


@pytest.mark.parametrize("kind", ["", "; charset=us-ascii", "; charset=nonsense", "; charset=undefined"])
@pytest.mark.parametrize("charset", ["utf-8", "cp1252"])
def test_raw_bytes_in_a_mail_are_decoded(kind: str, charset: str) -> None:
    mail = f"Subject: Grüße\nFrom: Jörg <j@example.invalid>\nContent-Type: text/plain{kind}\n\nCafé €"
    extracted = extract(mail.encode(charset), "x.eml")
    assert extracted.content == "Café €"
    assert extracted.fields == {"type": "email", "title": "Grüße", "author": "Jörg <j@example.invalid>"}


@pytest.mark.parametrize(
    "subject",
    [
        b"=?utf-8?q?Gr=FC=DFe?=",  # the wrong charset
        b"=?nonsense?q?Gr=C3=BC=C3=9Fe?=",
        b"=?utf-8?q?Gr=FC=DFe?= =?utf-8?q??=",
        b"=?utf-8?q?Gr=C3=BC=C3?=\n =?utf-8?q?=9Fe?=",  # a letter split over two words
    ],
)
def test_wrongly_encoded_words_are_decoded(subject: bytes) -> None:
    assert extract(b"Subject: " + subject + b"\n\nx", "x.eml").fields["title"] == "Grüße"


@pytest.mark.parametrize("header", ["To: g: a@b; <c@d>", "From: a@\r\n b>, c@<d>", "Message-ID: <<x>y"])
def test_a_broken_header_does_not_affect_the_others(header: str) -> None:
    assert extract(f"{header}\nSubject: x\n\ntext".encode(), "x.eml").fields["title"] == "x"


def test_encoded_words_that_cannot_be_decoded_are_not_changed() -> None:
    assert extract(b"Subject: =?utf-8?b?=9Fe?=\n\nx", "x.eml").fields["title"] == "=?utf-8?b?=9Fe?="


@pytest.mark.parametrize("depth", [102, 1500])
def test_a_mail_with_too_deeply_nested_parts_is_refused(depth: int) -> None:
    parts = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(depth))
    with pytest.raises(UsageError, match="nested more than 100 deep") as caught:
        extract(b"Subject: x\n" + parts + b"\ntext", "a.eml")
    assert caught.value.hint


def test_a_mail_with_nested_parts_is_read() -> None:
    parts = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(50))
    assert extract(parts + b"\ntext", "a.eml").content == "text"


def test_a_list_of_recipients_may_be_longer_than_other_headers() -> None:
    addresses = tuple(f"{'a' * 80}{number}@example.invalid" for number in range(80))
    extracted = extract(f"To: {', '.join(addresses)}\nSubject: {'s' * 9000}\n\nx".encode(), "x.eml")
    assert extracted.fields["participants"] == addresses
    assert len(str(extracted.fields["title"])) < 5000


def test_long_addresses_are_cut() -> None:
    address = "a" * 300 + "@example.invalid"
    extracted = extract(f"To: Bob <b@example.invalid>, {address}\n\nx".encode(), "x.eml")
    fields = DocumentFields(**extracted.fields)  # type: ignore[arg-type]
    assert check_fields(fields).participants == ("b@example.invalid", "a" * 200)


def test_the_hint_names_the_likely_charset_of_a_text() -> None:
    for data, option in (("Café".encode("utf-16"), "-f UTF-16 "), ("Café".encode("latin-1"), "-f LATIN1 ")):
        with pytest.raises(UsageError) as caught:
            extract(data, "a.txt")
        assert option in caught.value.hint


def test_a_broken_pdf_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("pypdf").setLevel(logging.NOTSET)
    with pytest.raises(UsageError):
        extract(b"%PDF-1.7\n" + b"x" * 2000, "a.pdf")
    assert not caplog.records


def test_headers_of_a_mail_become_fields_unless_given() -> None:
    extracted = extract(MAIL, "x.eml")
    assert extracted.content.strip() == "Café at noon."
    assert extracted.fields == {
        "type": "email", "title": "Grüße", "author": "Ann <ann@example.invalid>", "source": "email",
        "source_id": "<7@example.invalid>", "participants": ("bob@example.invalid", "cy@example.invalid"),
        "time": "2026-01-30T12:00:00+01:00",
    }  # fmt: skip
    merged = merge_fields(extracted.fields, {"title": "Other"})
    assert DocumentFields(**merged).title == "Other"  # type: ignore[arg-type]


def test_a_mail_with_only_html_is_read() -> None:
    extracted = extract(b"Subject: x\nContent-Type: text/html\n\n<p>Hello <b>you</b></p>", "x.eml")
    assert extracted.content == "Hello you"


def make_pdf(text: str) -> bytes:
    """Return a document with one page, which has a line of text or is empty."""
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


def test_the_text_and_title_of_a_pdf_are_read() -> None:
    extracted = extract(make_pdf("Hello PDF"), "whatever")
    assert extracted.content.strip() == "Hello PDF"
    assert extracted.fields == {"title": "A page"}


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"PK\x03\x04\0\0", "a.docx", "binary"),
        (b"caf\xe9", "a.txt", "not valid UTF-8"),
        (b"no headers\n\nhere", "a.eml", "not an e-mail"),
        (b"Subject: x\nContent-Type: image/png\n\nx", "a.eml", "has no text"),
        (b"<p>PK\0\0", "a.html", "binary"),
        (b"%PDF-1.7 broken", "a.pdf", "cannot be read as PDF"),
        (make_pdf(""), "a.pdf", "only pictures"),
    ],
)
def test_an_unreadable_file_is_refused(data: bytes, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        extract(data, name)
