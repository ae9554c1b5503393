"""Mask secrets in bytes and lines: their characters become dots, so all offsets and lines stay as they are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gitmem.secrets.private_keys import find_private_keys
from gitmem.secrets.scan import find_secrets_in


def mask_secrets(data: bytes) -> bytes:
    """Return the bytes with each character of a secret replaced by a dot; line ends stay."""
    return mask_each([data])[0]


def mask_each(texts: Sequence[bytes]) -> list[bytes]:
    """Do the same for several texts, which takes half of the time."""
    found = find_secrets_in(texts)
    return [_mask_spans(data, (finding[1:] for finding in own)) for data, own in zip(texts, found, strict=True)]


def mask_private_keys(data: bytes) -> bytes:
    """Return the bytes with private keys replaced by dots, and no other secrets. Cheap for data without one.

    A part of a file is masked like this before it is cut out: later lines of a long key do not say what they are.
    """
    return _mask_spans(data, find_private_keys(data))


def _mask_spans(data: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    masked: bytearray | None = None
    for start, end in spans:
        masked = masked if masked is not None else bytearray(data)
        masked[start:end] = bytes(byte if byte in b"\r\n" else ord(".") for byte in data[start:end])
    return data if masked is None else bytes(masked)


class _Narrow(dict[int, int]):
    """Table for `str.translate` that maps every character beyond ASCII to one of Latin-1."""

    def __missing__(self, code: int) -> int:
        return code if code < 256 else 255


def mask_text(text: str) -> str:
    """Return text with each character of a secret replaced by a dot."""
    if text.isascii():
        return mask_secrets(text.encode()).decode()
    # Rules see bytes. Latin-1 cannot hold all characters, so those beyond ASCII become a letter of one byte each.
    data = text.translate(_Narrow()).encode("latin-1")
    masked = mask_secrets(data)
    pairs = zip(text, data, masked, strict=True)
    return text if masked == data else "".join(char if old == new else "." for char, old, new in pairs)


def mask_lines(lines: Sequence[str]) -> list[str]:
    """Return lines with the characters of secrets replaced by dots."""
    return mask_text("\n".join(lines)).split("\n") if lines else []


def mask_value(value: Any, name: str = "") -> Any:
    """Return a JSON value in which the secrets of all texts are dots; rules also see the name of a value."""
    if isinstance(value, str):
        lead = f'{name}: "' if name else ""
        return mask_text(f"{lead}{value}")[len(lead) :]
    if isinstance(value, Mapping):
        return {key: item if key in _IDENTIFIERS else mask_value(item, str(key)) for key, item in value.items()}
    return [mask_value(item, name) for item in value] if isinstance(value, list | tuple) else value


_IDENTIFIERS: Final = frozenset({"id", "blob", "commit", "conversation", "path", "chunk_ids"})
"""Fields that name a record or an object; they are needed to ask for it."""
