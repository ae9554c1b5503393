"""Decide by its licence whether code may train a model that is given away. Only permissive licences allow it."""

import re
from typing import Final

_PERMISSIVE: Final = re.compile(
    r"\b(?:MIT|BSD|Apache|ASL-?2|ISC|PSF|Python Software|Python-2|zlib|Unlicense|CC0|BSL-1|Boost|Expat|PostgreSQL|"
    r"Ruby|public[- ]domain|HPND|0BSD|X11|Artistic|WTFPL|NCSA|OpenSSL|curl|PHP|libpng|Scala|AL-2|Blue ?Oak|Zope|"
    r"ZPL)\b|\bBSD",
    re.IGNORECASE,
)
# Copyleft, restricted and unknown licences. One of them in an alternative refuses it.
_COPYLEFT: Final = re.compile(
    r"\b(?:[AL]?GPL|GNU (?:lesser|general|affero|library)|MPL|Mozilla|EPL|Eclipse|CDDL|SSPL|BUSL|Business Source|"
    r"CC-BY-(?:NC|SA)|non-?commercial|proprietary|Elastic|EUPL|OSL|CeCILL|CPL|see licen[cs]e)",
    re.IGNORECASE,
)
# A phrase that identifies the text of each licence, checked in this order.
_TEXTS: Final = (
    ("MIT", "Permission is hereby granted, free of charge"),
    ("ISC", "Permission to use, copy, modify, and/or distribute this software for any"),
    ("ISC", "Permission to use, copy, modify, and distribute this software for any"),
    ("BSD", "Redistribution and use in source and binary forms"),
    ("Apache-2.0", "Apache License"),
    ("Zlib", "This software is provided 'as-is'"),
    ("Unlicense", "This is free and unencumbered software released into the public domain"),
    ("BSL-1.0", "Boost Software License"),
    ("CC0-1.0", "CC0 1.0 Universal"),
)


def is_permissive(licence: str) -> bool:
    """Return whether one alternative of a licence expression is permissive throughout."""
    # `MIT OR GPL` leaves the choice to the user. `MIT AND GPL` is one alternative and fails.
    return any(
        _PERMISSIVE.search(choice) and not _COPYLEFT.search(choice) for choice in re.split(r"(?i)\bor\b|/|\|", licence)
    )


def licence_of_text(text: str) -> str:
    """Return the licence with this text, '' for copyleft and unknown ones."""
    text = " ".join(text.split())
    if re.search(
        r"GNU (?:LESSER |LIBRARY |AFFERO )?GENERAL PUBLIC|Mozilla Public|Eclipse Public", text[:3000], re.IGNORECASE
    ):
        return ""
    return next((name for name, phrase in _TEXTS if phrase.lower() in text.lower()), "")


def licence_of_copyright(text: str) -> str:
    """Return the licence of `Files: *` in a Debian copyright file, else the one whose text it contains."""
    stanza = re.search(r"(?ms)^Files:\s*\*(?:\s.*?)?^License:\s*([^\n]+)", text)
    return stanza[1].strip() if stanza else licence_of_text(text)


def forbids(head: str) -> bool:
    """Return whether a file's head puts it under a copyleft licence, unlike its package."""
    return bool(re.search(r"(?i)GNU (?:Lesser |Affero |Library )?General Public|\bA?GPL-?[23]|Mozilla Public", head))
