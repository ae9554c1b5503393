"""Text out of files: plain text and Markdown as they are, HTML as Markdown, mails with their headers, PDF by an extra.

What cannot be read is refused with what would help, never taken in by half.
"""

from collections.abc import Mapping
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses
from pathlib import PurePath
from typing import Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.memory.documents import DocumentFields

FORMATS: Final = ("text", "html", "email", "pdf")
_ENDINGS: Final = {".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "email", ".pdf": "pdf"}
_MOST_PARTICIPANTS: Final = 100


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
        return _from_html(data)
    if chosen == "email":
        return _from_email(data, name)
    return Extract(_text(data, name), {})


def _form_of(data: bytes, name: str) -> str:
    if data.startswith(b"%PDF-"):
        return "pdf"
    return _ENDINGS.get(PurePath(name).suffix.lower(), "text")


def _text(data: bytes, name: str) -> str:
    if b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(
            f"`{name}` is binary data", hint="extract its text first and hand that over: ... | gitmem doc add -"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UsageError(
            f"`{name}` is no UTF-8 text", hint=f"convert it: iconv -f LATIN1 -t UTF-8 {name} | gitmem doc add -"
        ) from problem


def _from_html(data: bytes) -> Extract:
    from justhtml import JustHTML

    page = JustHTML(data)
    title = page.query_one("title")
    fields = {"title": " ".join(title.to_text().split())[:500]} if title is not None else {}
    return Extract(page.to_markdown(), fields)


def _from_email(data: bytes, name: str) -> Extract:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise UsageError(f"`{name}` is no e-mail: it has no headers")
    return Extract(_body(message, name), _headers(message))


def _body(message: EmailMessage, name: str) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        raise UsageError(f"`{name}` holds no text", hint="extract its attachments and add them by themselves")
    try:
        content = str(part.get_content())
    except (LookupError, ValueError, KeyError) as problem:
        raise UsageError(f"the text of `{name}` cannot be decoded: {problem}") from problem
    return _from_html(content.encode()).content if part.get_content_subtype() == "html" else content


def _headers(message: EmailMessage) -> dict[str, object]:
    fields: dict[str, object] = {"type": "email"}
    for field, header, most in (("title", "Subject", 500), ("author", "From", 200), ("source_id", "Message-ID", 500)):
        value = " ".join(str(message.get(header, "")).split())
        if value:
            fields[field] = value[:most]
    if "source_id" in fields:
        fields["source_system"] = "email"
    others = [str(value) for header in ("To", "Cc") for value in message.get_all(header, [])]
    people = dict.fromkeys(address for _, address in getaddresses(others) if address)
    if people:
        fields["participants"] = tuple(people)[:_MOST_PARTICIPANTS]
    moment = getattr(message.get("Date"), "datetime", None)
    if moment is not None:
        fields["time"] = moment.isoformat()
    return fields


def _from_pdf(data: bytes, name: str) -> Extract:
    try:
        import pypdf
    except ImportError as problem:
        raise UsageError(
            f"`{name}` is a PDF, and reading those is an extra of gitmem",
            hint=f"pip install 'gitmem[pdf]', or: pdftotext {name} - | gitmem doc add -",
        ) from problem
    from io import BytesIO

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
