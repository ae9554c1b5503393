"""Read mails: the first part with text, and the headers as fields of a document. Pure."""

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

_MAX_PARTICIPANTS: Final = 100
_MAX_PARTICIPANT_CHARS: Final = 200
_MAX_DEPTH: Final = 100
"""Maximum nesting of multiparts. The email library recurses into them, so a deep mail would exhaust the stack."""

_MAX_HEADER_CHARS: Final = 4_096
_MAX_RECIPIENTS_CHARS: Final = 16_384
_RECIPIENTS: Final = ("to", "cc")
_MAX_RECIPIENT_HEADERS: Final = 4
"""Longer headers are cut: the library takes quadratic time, and no field of a document holds more."""

_ENCODED_WORDS: Final = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?\r\n]*\?=(?:\s+=\?[^?\s]+\?[bBqQ]\?[^?\r\n]*\?=)*")


class _LenientPolicy(EmailPolicy):
    """Policy that reads malformed headers as mail readers do, where the library would put replacement characters."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return the name and value of a header, with raw bytes decoded and adjacent encoded words joined as UTF-8."""
        name, value = super().header_source_parse(sourcelines)
        value = _cut(name, value)
        if not value.isascii():
            value = decode(value.encode("utf-8", "surrogateescape"))
        return name, _ENCODED_WORDS.sub(_join_words, value)

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """Return a parsed header, or its plain text if the library fails on it or loses a part of it."""
        plain = " ".join(value.split())
        try:
            parsed = super().header_fetch_parse(name, value)
        except Exception:  # a hostile header can raise any exception
            return plain
        return plain if "\ufffd" in str(parsed) and "\ufffd" not in value else parsed


def _cut(name: str, value: str) -> str:
    """Cut a long header; a list of recipients behind a whole address."""
    if name.lower() not in _RECIPIENTS:
        return value[:_MAX_HEADER_CHARS]
    if len(value) <= _MAX_RECIPIENTS_CHARS:
        return value
    return value[:_MAX_RECIPIENTS_CHARS].rpartition(",")[0]


def _join_words(words: "re.Match[str]") -> str:
    """Re-encode a run of encoded words as a single one in UTF-8.

    The library decodes each word by itself (RFC 2047), but senders split characters between two words and declare wrong
    charsets.
    """
    try:
        parts = decode_header(words[0])
    except HeaderParseError:
        return words[0]
    text = "".join(decode(data, charset or "") if isinstance(data, bytes) else data for data, charset in parts)
    return f"=?utf-8?b?{b64encode(text.encode('utf-8', 'replace')).decode()}?="


def read_mail(data: bytes, name: str) -> tuple[str, dict[str, object]]:
    """Return the text of a mail, and fields of DocumentFields from its headers. Errors call the mail `name`.

    Raises: UsageError.
    """
    try:
        message = message_from_bytes(data, policy=_LenientPolicy())
    except RecursionError:
        raise _too_deep(name) from None
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise UsageError(f"`{name}` is not an e-mail: it has no headers")
    return _read_body(message, name), _read_headers(message)


def _too_deep(name: str) -> UsageError:
    return UsageError(
        f"`{name}` has multiparts nested more than {_MAX_DEPTH} deep",
        hint="extract its text first: ... | gitmem doc add -",
    )


def _read_body(message: EmailMessage, name: str) -> str:
    """Return the first part that is not blank, plain text before HTML."""
    # The sort is stable, so parts of one type keep the order of the mail.
    parts = sorted(_text_parts(message, name), key=lambda part: part.get_content_subtype() == "html")
    if not parts:
        raise UsageError(f"`{name}` has no text", hint="extract its attachments and add them separately")
    return next((text for text in (_read_part(part, name) for part in parts) if text.strip()), "")


def _text_parts(message: EmailMessage, name: str) -> Iterator[EmailMessage]:
    """Yield the parts with text in their order, without attachments."""
    stack = [(message, 0)]  # an own stack instead of recursion: see _MAX_DEPTH
    while stack:
        part, depth = stack.pop()
        if depth > _MAX_DEPTH:
            raise _too_deep(name)
        if part.get_content_disposition() == "attachment":
            continue
        if part.get_content_type() in ("text/plain", "text/html"):
            yield part
        elif part.get_content_maintype() == "multipart" and part.is_multipart():
            stack += [(child, depth + 1) for child in reversed(list(part.iter_parts()))]


def _read_part(part: EmailMessage, name: str) -> str:
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)
    charset = part.get_content_charset("")
    if part.get_content_subtype() == "html":
        return read_page(decode_html(data, charset), name).text
    return decode(data, charset)


def _read_headers(message: EmailMessage) -> dict[str, object]:
    fields: dict[str, object] = {"type": "email"}
    for field, header, maximum in (
        ("title", "Subject", 500),
        ("author", "From", 200),
        ("source_id", "Message-ID", 500),
    ):
        value = " ".join(str(message.get(header, "")).split())
        if value:
            fields[field] = value[:maximum]
    if "source_id" in fields:
        fields["source"] = "email"
    # Not `get_all`, which parses every header of the name before the first one can be used.
    raw = [(name, value) for name, value in message.raw_items() if name.lower() in _RECIPIENTS]
    recipients = [str(message.policy.header_fetch_parse(*item)) for item in raw[:_MAX_RECIPIENT_HEADERS]]
    addresses = dict.fromkeys(address[:_MAX_PARTICIPANT_CHARS] for _, address in getaddresses(recipients) if address)
    if addresses:
        fields["participants"] = tuple(addresses)[:_MAX_PARTICIPANTS]
    moment = getattr(message.get("Date"), "datetime", None)
    if moment is not None:
        fields["time"] = moment.isoformat()
    return fields
