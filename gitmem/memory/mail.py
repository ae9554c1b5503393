"""Mails to text: the first part that says something, and the headers as fields. Pure."""

import re
from base64 import b64encode
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import getaddresses
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.memory.charset_decoding import decode, decode_html
from gitmem.memory.html_page import read_page

_MOST_PARTICIPANTS: Final = 100
_MOST_OF_PARTICIPANT: Final = 200
_MOST_PARTS_WITHIN: Final = 100
"""Multiparts within each other; the library that reads mails goes down them call by call."""

_ENCODED_WORDS: Final = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?\r\n]*\?=(?:\s+=\?[^?\s]+\?[bBqQ]\?[^?\r\n]*\?=)*")


class _Mail(EmailPolicy):
    """Reads what is wrong in headers as mail readers do, where the library would put marks in its place."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Name and value of a header: raw bytes as text, encoded words in a row as a single one in UTF-8."""
        name, value = super().header_source_parse(sourcelines)
        if not value.isascii():
            value = decode(value.encode("utf-8", "surrogateescape"))
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
    text = "".join(decode(data, charset or "") if isinstance(data, bytes) else data for data, charset in found)
    return f"=?utf-8?b?{b64encode(text.encode('utf-8', 'replace')).decode()}?="


def read_mail(data: bytes, name: str) -> tuple[str, dict[str, object]]:
    """The text of a mail and what its headers tell, by the names of DocumentFields; `name` is what errors call it.

    Raises UsageError.
    """
    try:
        message = message_from_bytes(data, policy=_Mail())
    except RecursionError:
        raise _too_deep(name) from None
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise UsageError(f"`{name}` is no e-mail: it has no headers")
    return _body(message, name), _headers(message)


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
        return read_page(decode_html(data, charset), name).text
    return decode(data, charset)


def _headers(message: EmailMessage) -> dict[str, object]:
    fields: dict[str, object] = {"type": "email"}
    for field, header, most in (("title", "Subject", 500), ("author", "From", 200), ("source_id", "Message-ID", 500)):
        value = " ".join(str(message.get(header, "")).split())
        if value:
            fields[field] = value[:most]
    if "source_id" in fields:
        fields["source"] = "email"
    others = [str(value) for header in ("To", "Cc") for value in message.get_all(header, [])]
    people = dict.fromkeys(address[:_MOST_OF_PARTICIPANT] for _, address in getaddresses(others) if address)
    if people:
        fields["participants"] = tuple(people)[:_MOST_PARTICIPANTS]
    moment = getattr(message.get("Date"), "datetime", None)
    if moment is not None:
        fields["time"] = moment.isoformat()
    return fields
