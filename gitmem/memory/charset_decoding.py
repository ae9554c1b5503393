"""Bytes to text in the charset they declare, and in the likeliest one where that is wrong or missing. Pure."""

import codecs
import re
from typing import Final

UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECLARED: Final = re.compile(
    rb"<!--.*?-->|<(?:meta|\?xml)\b[^>]*?\b(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE | re.DOTALL
)
_DECLARED_WITHIN: Final = 4096
_MEANT: Final = {
    "iso8859-1": "cp1252", "gb2312": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
    **dict.fromkeys(("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"), "utf-8"),
}  # fmt: skip
"""What is meant by the name of a charset: often a larger one; codecs of Python that are no charsets mean nothing."""


def decode(data: bytes, declared: str = "") -> str:
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


def decode_html(data: bytes, told: str = "") -> str:
    """A page in the charset that its mark, whoever sent it, or the page itself tells, in this order."""
    if data.startswith(codecs.BOM_UTF8):
        return decode(data)
    if data.startswith(UTF16_MARKS):
        return decode(data, "utf-16")
    found = (match[1] for match in _DECLARED.finditer(data[:_DECLARED_WITHIN]) if match[1])
    declared = next(found, b"").decode("latin-1")
    return decode(data, told or ("utf-8" if declared.lower().startswith("utf-16") else declared))
