"""Decode bytes in their declared charset, or in the likeliest one if that is wrong or missing. Pure."""

import codecs
import re
from typing import Final

UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# Comments are matched first, so that a declaration inside one is skipped.
_DECLARATION: Final = re.compile(
    rb"<!--.*?-->|<(?:meta|\?xml)\b[^>]*?\b(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE | re.DOTALL
)
_DECLARATION_BYTES: Final = 4096
_REPLACEMENTS: Final = {
    "iso8859-1": "cp1252", "gb2312": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
    **dict.fromkeys(("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"), "utf-8"),
}  # fmt: skip
"""Charset to decode with, by declared charset. As in browsers, an older charset is replaced by its superset. Codecs of
Python that are not charsets count as not declared."""


def decode(data: bytes, declared: str = "") -> str:
    """Decode bytes in the declared charset; if it is wrong or missing, in UTF-8, else in Windows-1252."""
    try:
        declared = codecs.lookup(declared or "utf-8").name
    except (LookupError, ValueError):
        declared = "utf-8"
    for charset in (_REPLACEMENTS.get(declared, declared), "utf-8", "cp1252"):
        try:
            return data.decode(charset).removeprefix("\ufeff")
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")  # cp1252 leaves five bytes undefined, latin-1 none


def decode_html(data: bytes, transport_charset: str = "") -> str:
    """Decode a page by its byte order mark, the charset of its transport, or its own declaration, in this order."""
    if data.startswith(codecs.BOM_UTF8):
        return decode(data)
    if data.startswith(UTF16_MARKS):
        return decode(data, "utf-16")
    matches = (match[1] for match in _DECLARATION.finditer(data[:_DECLARATION_BYTES]) if match[1])
    declared = next(matches, b"").decode("latin-1")
    # A declaration that can be read as ASCII cannot be in UTF-16; the HTML standard takes it for UTF-8.
    return decode(data, transport_charset or ("utf-8" if declared.lower().startswith("utf-16") else declared))
