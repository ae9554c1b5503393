"""Text out of files: plain text and Markdown as they are, HTML as Markdown, mails with their headers, PDF by an extra.

What cannot be read is refused with what would help, never taken in by half.
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.memory.charset_decoding import UTF16_MARKS, decode_html
from gitmem.memory.document import DocumentFields
from gitmem.memory.html_page import read_page
from gitmem.memory.mail import read_mail

FORMATS: Final = ("text", "html", "email", "pdf")
_ENDINGS: Final = {".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "email", ".pdf": "pdf"}


class Extract(NamedTuple):
    """The text of a file and what the file itself says of it."""

    content: str
    fields: Mapping[str, object]


def extract(data: bytes, name: str, form: str = "") -> Extract:
    """The text of a file; `form` is one of FORMATS, empty to tell it by name and content. Raises UsageError."""
    chosen = form or _form_of(data, name)
    if chosen == "pdf":
        return _from_pdf(data, name)
    if chosen == "html":
        return _from_html(decode_html(data), name)
    if chosen == "email":
        return Extract(*read_mail(data, name))
    return Extract(_text(data, name), {})


def _form_of(data: bytes, name: str) -> str:
    if data.startswith(b"%PDF-"):
        return "pdf"
    return _ENDINGS.get(PurePath(name).suffix.lower(), "text")


def _text(data: bytes, name: str) -> str:
    if b"\0" in data[:8192] and not data.startswith(UTF16_MARKS):
        raise UsageError(
            f"`{name}` is binary data", hint="extract its text first and hand that over: ... | gitmem doc add -"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        likely = "UTF-16" if data.startswith(UTF16_MARKS) else "LATIN1"
        raise UsageError(
            f"`{name}` is no UTF-8 text", hint=f"convert it: iconv -f {likely} -t UTF-8 {name} | gitmem doc add -"
        ) from problem


def _from_html(text: str, name: str) -> Extract:
    page = read_page(text, name)
    return Extract(page.text, {"title": page.title[:500]} if page.title else {})


def _from_pdf(data: bytes, name: str) -> Extract:
    try:
        import pypdf
    except ImportError as problem:
        raise UsageError(
            f"`{name}` is a PDF, and reading those is an extra of gitmem",
            hint=f"pip install 'gitmem[pdf]', or: pdftotext {name} - | gitmem doc add -",
        ) from problem
    import logging
    from io import BytesIO

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # what is wrong is told by the refusal alone
    try:
        reader = pypdf.PdfReader(BytesIO(data))
        pages = [page.extract_text() for page in reader.pages]
        title = str((reader.metadata.title if reader.metadata else "") or "")
    except Exception as problem:  # a hostile file makes it raise anything
        raise UsageError(f"`{name}` cannot be read as PDF: {type(problem).__name__}: {problem}") from problem
    text = "\n\n".join(page for page in pages if page.strip())
    if not text:
        raise UsageError(f"`{name}` holds no text, only pictures", hint="run it through text recognition first")
    return Extract(text, {"title": title[:500]} if title else {})


def with_given(found: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """Fields of a file under those that were told beside it; names are those of DocumentFields."""
    assert set(found) | set(given) <= set(DocumentFields._fields)
    return {**found, **given}
