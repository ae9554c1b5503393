"""Mask secrets in bytes and lines: their characters become dots, so all offsets and lines stay as they are."""

from collections.abc import Sequence

from gitmem.secrets.scan import find_secrets


def mask_secrets(data: bytes) -> bytes:
    """Return the bytes with each character of a secret replaced by a dot; line ends stay."""
    findings = find_secrets(data)
    if not findings:
        return data
    masked = bytearray(data)
    for _, start, end in findings:
        masked[start:end] = bytes(byte if byte in b"\r\n" else ord(".") for byte in data[start:end])
    return bytes(masked)


def mask_text(text: str) -> str:
    """Return text with each character of a secret replaced by a dot."""
    data = text.encode("utf-8", "surrogatepass")
    masked = mask_secrets(data)
    return text if masked == data else masked.decode("utf-8", "surrogatepass")


def mask_lines(lines: Sequence[str]) -> list[str]:
    """Return lines with the characters of secrets replaced by dots."""
    return mask_text("\n".join(lines)).split("\n") if lines else []
