"""Extract the text of files: text and Markdown unchanged, HTML as Markdown, mails with their headers, PDF.

A file that cannot be read completely is refused with a remedy.
"""

from collections.abc import Mapping
from io import BytesIO
from pathlib import PurePath
from typing import Final

from gitmem.errors import UsageError
from gitmem.memory.charset_decoding import UTF16_MARKS, decode_html
from gitmem.memory.document import DocumentFields
from gitmem.memory.html_page import read_page
from gitmem.memory.mail import read_mail
from gitmem.named_tuple import NamedTuple

FORMATS: Final = ("text", "html", "email", "pdf")
_ENDINGS: Final = {".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "email", ".pdf": "pdf"}


class Extract(NamedTuple):
    """Text of a file, and the fields of DocumentFields that the file itself provides."""

    content: str
    fields: Mapping[str, object]


def extract(data: bytes, name: str, file_format: str = "") -> Extract:
    """Extract the text of a file in this process. An empty format is detected from content and name.

    Parsers of hostile files may take any time and memory: front ends use `extraction_process`. Raises UsageError.
    """
    chosen = file_format or detect_format(data, name)
    if chosen == "pdf":
        return _read_pdf(data, name)
    if chosen == "html":
        return _read_html(decode_html(data), name)
    if chosen == "email":
        return Extract(*read_mail(data, name))
    return Extract(_read_text(data, name), {})


def detect_format(data: bytes, name: str) -> str:
    """Return the format of a file by its content and name."""
    if data.startswith(b"%PDF-"):
        return "pdf"
    return _ENDINGS.get(PurePath(name).suffix.lower(), "text")


def _read_text(data: bytes, name: str) -> str:
    if b"\0" in data[:8192] and not data.startswith(UTF16_MARKS):
        raise UsageError(f"`{name}` is binary data", hint="extract its text first: ... | gitmem doc add -")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # Guessing the charset of plain text would store wrong letters silently, so the user decides.
        likely = "UTF-16" if data.startswith(UTF16_MARKS) else "LATIN1"
        raise UsageError(
            f"`{name}` is not valid UTF-8", hint=f"convert it: iconv -f {likely} -t UTF-8 {name} | gitmem doc add -"
        ) from error


def _read_html(text: str, name: str) -> Extract:
    page = read_page(text, name)
    return Extract(page.text, {"title": page.title[:500]} if page.title else {})


def _read_pdf(data: bytes, name: str) -> Extract:
    # Imported here because pypdf takes 0.1 s to import, and hardly any call of `gitmem doc` reads a PDF.
    import logging

    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # the refusal below reports the problem once
    try:
        reader = pypdf.PdfReader(BytesIO(data))
        pages = [page.extract_text() for page in reader.pages]
        title = str((reader.metadata.title if reader.metadata else "") or "")
    except Exception as error:  # a hostile file can raise any exception
        raise UsageError(
            f"`{name}` cannot be read as PDF: {type(error).__name__}: {error}",
            hint=f"try another reader: pdftotext {name} - | gitmem doc add -",
        ) from error
    text = "\n\n".join(page for page in pages if page.strip())
    if not text:
        raise UsageError(f"`{name}` has no text, only pictures", hint="run it through text recognition first")
    return Extract(text, {"title": title[:500]} if title else {})


def merge_fields(extracted: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """Merge the fields of a file with fields given by the user, which win. Names are those of DocumentFields."""
    assert set(extracted) | set(given) <= set(DocumentFields._fields)
    return {**extracted, **given}
