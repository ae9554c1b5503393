"""Text out of files: plain text and Markdown as they are, HTML as Markdown, mails with their headers, PDF by an extra.

What cannot be read is refused with what would help, never taken in by half.
"""

import codecs
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import getaddresses
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.memory.documents import DocumentFields

if TYPE_CHECKING:
    from justhtml import Node

FORMATS: Final = ("text", "html", "email", "pdf")
_ENDINGS: Final = {".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "email", ".pdf": "pdf"}
_MOST_PARTICIPANTS: Final = 100
_MOST_OF_PARTICIPANT: Final = 200
_MOST_PARTS_WITHIN: Final = 100
"""Multiparts within each other; the library that reads mails goes down them call by call."""
_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECLARED: Final = re.compile(
    rb"<!--.*?-->|<(?:meta|\?xml)\b[^>]*?\b(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE | re.DOTALL
)
_DECLARED_WITHIN: Final = 4096
_MEANT: Final = {
    "iso8859-1": "cp1252", "gb2312": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
    **dict.fromkeys(("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"), "utf-8"),
}  # fmt: skip
"""What is meant by the name of a charset: often a larger one; codecs of Python that are no charsets mean nothing."""
_ENCODED_WORDS: Final = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?\r\n]*\?=(?:\s+=\?[^?\s]+\?[bBqQ]\?[^?\r\n]*\?=)*")
_UNSAID: Final = frozenset("head title script style noscript noembed noframes iframe template".split())
_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section select summary table tbody td"
    " textarea tfoot th thead tr ul".split()
)
_NO_CELL_HOLDS: Final = frozenset("blockquote h1 h2 h3 h4 h5 h6 ol pre table ul".split())
_DEEPEST_MARK: Final = 8


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
        return _from_html(_decode_html(data), name)
    if chosen == "email":
        return _from_email(data, name)
    return Extract(_text(data, name), {})


def _form_of(data: bytes, name: str) -> str:
    if data.startswith(b"%PDF-"):
        return "pdf"
    return _ENDINGS.get(PurePath(name).suffix.lower(), "text")


def _text(data: bytes, name: str) -> str:
    if b"\0" in data[:8192] and not data.startswith(_UTF16_MARKS):
        raise UsageError(
            f"`{name}` is binary data", hint="extract its text first and hand that over: ... | gitmem doc add -"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        likely = "UTF-16" if data.startswith(_UTF16_MARKS) else "LATIN1"
        raise UsageError(
            f"`{name}` is no UTF-8 text", hint=f"convert it: iconv -f {likely} -t UTF-8 {name} | gitmem doc add -"
        ) from problem


def _decode(data: bytes, declared: str = "") -> str:
    """Text in the charset it declares; where that is wrong or missing, in UTF-8 or else what Windows writes."""
    try:
        declared = codecs.lookup(declared or "utf-8").name
    except (LookupError, ValueError):
        declared = "utf-8"
    for charset in (_MEANT.get(declared, declared), "utf-8", "cp1252"):
        try:
            return data.decode(charset).removeprefix("\ufeff")
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")


def _decode_html(data: bytes, told: str = "") -> str:
    """A page in the charset that its mark, whoever sent it, or the page itself tells, in this order."""
    if data.startswith(codecs.BOM_UTF8):
        return _decode(data)
    if data.startswith(_UTF16_MARKS):
        return _decode(data, "utf-16")
    found = (match[1] for match in _DECLARED.finditer(data[:_DECLARED_WITHIN]) if match[1])
    declared = next(found, b"").decode("latin-1")
    return _decode(data, told or ("utf-8" if declared.lower().startswith("utf-16") else declared))


def _from_html(text: str, name: str) -> Extract:
    from justhtml import JustHTML

    if "\0" in text:
        raise UsageError(f"`{name}` is binary data", hint="extract its text first")
    page = JustHTML(text, sanitize=False)
    title = page.query_one("title")
    fields = {"title": " ".join(title.to_text().split())[:500]} if title is not None else {}
    return Extract(_readable(page.root), fields)


def _readable(root: "Node") -> str:
    """What a page says, as Markdown without escapes: a name stands as it is."""
    page = _Page()
    waiting = [(root, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            page.close(node)
        elif node.name == "#text":
            page.add(node.text)
        elif node.name not in _UNSAID:
            page.open(node)
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node.children or ())]
    page.end_block()
    return "".join(page.parts)


class _Page:
    """The text of a page as its elements open and close."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        """Pieces of the text so far, to be joined."""
        self._kind = ""
        self._inline: list[str] = []
        self._marker = ""
        self._lists: list[int | None] = []
        self._rows: list[list[list[str]] | None] = []
        """Cells of the rows that are open, each with its paragraphs; None where a row is but the layout of a page."""
        self._quotes = 0
        self._fences = 0

    def add(self, text: str) -> None:
        """Text as the page holds it."""
        self._inline.append(text if self._fences else text.replace("\n", " "))

    def open(self, node: "Node") -> None:
        """An element begins."""
        name = node.name
        if name == "br":
            self._inline.append("\n")
        elif name == "a":
            self._inline.append("")
        elif name == "img":
            self._inline.append((node.attrs or {}).get("alt") or "")
        elif name in _BLOCKS:
            self.end_block()
            if not self._fences:
                self._begin(name)
            if name == "pre":
                self._fences += 1

    def _begin(self, name: str) -> None:
        if name in _NO_CELL_HOLDS:
            self._spread_row()
        if name in ("ul", "ol"):
            self._lists.append(0 if name == "ol" else None)
        elif name == "li":
            self._marker = self._next_item()
        elif name == "tr":
            self._rows.append([])
        elif name in ("td", "th") and self._rows:
            row = self._rows[-1]
            if row is not None:
                row.append([])
        elif name == "blockquote":
            self._quotes += 1
        elif name[0] == "h" and name[1:].isdigit():
            self._marker = "#" * int(name[1:]) + " "

    def close(self, node: "Node") -> None:
        """An element ends."""
        name = node.name
        if name == "a":
            self._end_link((node.attrs or {}).get("href") or "")
        elif name == "pre" and self._fences == 1:
            self._end_fence()
        elif name in _BLOCKS:
            self.end_block()
            if name == "pre":
                self._fences -= 1
            elif not self._fences:
                self._end(name)

    def _end(self, name: str) -> None:
        if name in ("ul", "ol"):
            self._lists.pop()
        elif name == "tr":
            self._end_row()
        elif name == "blockquote":
            self._quotes -= 1
        elif name == "li" or name[1:].isdigit():
            self._marker = ""

    def end_block(self) -> None:
        """The text since the last block becomes one; within a code block it becomes a line."""
        if self._fences:
            if self._inline and not self._inline[-1].endswith("\n"):
                self._inline.append("\n")
            return
        lines = (" ".join(line.split()) for line in "".join(self._inline).split("\n"))
        text = "\n".join(line for line in lines if line)
        self._inline.clear()
        row = self._rows[-1] if self._rows else None
        if text and row:
            row[-1].append(text)
        elif text and self._marker.startswith("#"):
            self._say(self._marker + text.replace("\n", " "))
        elif text:
            self._say(self._marker + text, "item" if self._marker else "")

    def _say(self, text: str, kind: str = "") -> None:
        quote = "> " * min(self._quotes, _DEEPEST_MARK)
        between = "\n" if kind and kind == self._kind else "\n\n"
        self.parts += [between if self.parts else "", quote, text.replace("\n", "\n" + quote)]
        self._kind = kind
        self._marker = ""

    def _next_item(self) -> str:
        indent = "  " * min(len(self._lists) - 1, _DEEPEST_MARK)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return indent + "- "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "

    def _end_link(self, target: str) -> None:
        said = self._inline[-1].strip() if self._inline else ""
        if said and said != target and target.startswith(("http://", "https://")) and not self._fences:
            self._inline.append(f" <{target}>")

    def _end_fence(self) -> None:
        code = "".join(self._inline).strip("\n")
        self._inline.clear()
        self._fences = 0
        if code.strip():
            longest = max(map(len, re.findall("`+", code)), default=0)
            fence = "`" * max(3, longest + 1)
            self._say(f"{fence}\n{code}\n{fence}")

    def _spread_row(self) -> None:
        """A row that holds more than words is layout: its cells become paragraphs."""
        if self._rows:
            row, self._rows[-1] = self._rows[-1], None
            for text in (text for cell in row or () for text in cell):
                self._say(text)

    def _end_row(self) -> None:
        row = self._rows[-1] or []
        if sum(map(bool, row)) > 1:
            self._say(" | ".join(" ".join(cell).replace("\n", " ") for cell in row).strip(), "row")
        else:
            self._spread_row()
        self._rows.pop()


class _Mail(EmailPolicy):
    """Reads what is wrong in headers as mail readers do, where the library would put marks in its place."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Name and value of a header: raw bytes as text, encoded words in a row as a single one in UTF-8."""
        name, value = super().header_source_parse(sourcelines)
        if not value.isascii():
            value = _decode(value.encode("utf-8", "surrogateescape"))
        return name, _ENCODED_WORDS.sub(_join_words, value)

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """A header with what it means, or as it stands where the library stumbles over it or loses a part of it."""
        plain = " ".join(value.split())
        try:
            found = super().header_fetch_parse(name, value)
        except Exception:  # a hostile header makes it raise anything
            return plain
        return plain if "\ufffd" in str(found) and "\ufffd" not in value else found


def _join_words(words: "re.Match[str]") -> str:
    try:
        found = decode_header(words[0])
    except HeaderParseError:
        return words[0]
    text = "".join(_decode(data, charset or "") if isinstance(data, bytes) else data for data, charset in found)
    return f"=?utf-8?b?{b64encode(text.encode('utf-8', 'replace')).decode()}?="


def _from_email(data: bytes, name: str) -> Extract:
    try:
        message = message_from_bytes(data, policy=_Mail())
    except RecursionError:
        raise _too_deep(name) from None
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise UsageError(f"`{name}` is no e-mail: it has no headers")
    return Extract(_body(message, name), _headers(message))


def _too_deep(name: str) -> UsageError:
    return UsageError(
        f"`{name}` has more than {_MOST_PARTS_WITHIN} parts within each other",
        hint="extract its text first and hand that over: ... | gitmem doc add -",
    )


def _body(message: EmailMessage, name: str) -> str:
    """The first part that says something, plain text before HTML."""
    parts = sorted(_text_parts(message, name), key=lambda part: part.get_content_subtype() == "html")
    if not parts:
        raise UsageError(f"`{name}` holds no text", hint="extract its attachments and add them by themselves")
    return next((text for text in (_part_text(part, name) for part in parts) if text.strip()), "")


def _text_parts(message: EmailMessage, name: str) -> Iterator[EmailMessage]:
    waiting = [(message, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > _MOST_PARTS_WITHIN:
            raise _too_deep(name)
        if part.get_content_disposition() == "attachment":
            continue
        if part.get_content_type() in ("text/plain", "text/html"):
            yield part
        elif part.get_content_maintype() == "multipart" and part.is_multipart():
            waiting += [(within, depth + 1) for within in reversed(list(part.iter_parts()))]


def _part_text(part: EmailMessage, name: str) -> str:
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)
    charset = part.get_content_charset("")
    if part.get_content_subtype() == "html":
        return _from_html(_decode_html(data, charset), name).content
    return _decode(data, charset)


def _headers(message: EmailMessage) -> dict[str, object]:
    fields: dict[str, object] = {"type": "email"}
    for field, header, most in (("title", "Subject", 500), ("author", "From", 200), ("source_id", "Message-ID", 500)):
        value = " ".join(str(message.get(header, "")).split())
        if value:
            fields[field] = value[:most]
    if "source_id" in fields:
        fields["source_system"] = "email"
    others = [str(value) for header in ("To", "Cc") for value in message.get_all(header, [])]
    people = dict.fromkeys(address[:_MOST_OF_PARTICIPANT] for _, address in getaddresses(others) if address)
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
