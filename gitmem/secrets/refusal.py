"""Refuse or redact text with secrets before it is stored as a record."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitmem.errors import UsageError
from gitmem.secrets.scan import PRIVATE_KEY, find_secrets

_KEY_HEADER: Final = "PRIVATE KEY-----"
_PEM_BEGIN: Final = "-----BEGIN"
_PEM_END: Final = "-----END"
_REDACTED: Final = "[secret left out]"


def refuse_secrets(text: str, subject: str, fields: object = (), *, shared: bool = False) -> None:
    """Raise UsageError if a text, or the fields stored with it, contain a secret; `shared` if it is stored already.

    `fields` are texts, lists and mappings of them. The message has the kind and the place, never the secret.
    """
    for searched, place in ((text, ", line {}"), ("\n".join(_flatten(fields)), " in its fields")):
        secrets = _find_by_line(searched)
        if secrets:
            line = min(secrets)
            refused, done = ("nothing was pushed", "shares") if shared else ("it was not stored", "stores")
            raise UsageError(
                f"the {subject} seems to contain a secret ({secrets[line]}{place.format(line)}); {refused}",
                hint=f"remove the secret; on the command line, --allow-secrets {done} it nevertheless",
            )


def _flatten(value: object) -> Iterator[str]:
    """Yield the texts of nested fields; those of mappings as `name=value`, since rules look at the name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (f"{name}={text}" for name, text in value.items())
    elif isinstance(value, Iterable):
        for part in value:
            yield from _flatten(part)


def redact_secrets(text: str) -> str:
    """Replace each line with a secret by a fixed text; of a private key, all lines to its end."""
    lines = text.split("\n")
    for number in _find_by_line(text):
        lines[number - 1] = _REDACTED + ("\r" if lines[number - 1].endswith("\r") else "")
    return "\n".join(lines)


def _find_by_line(text: str) -> dict[int, str]:
    """Return the rules of the secrets by line, counted from 1."""
    data = text.encode("utf-8", "surrogatepass")
    secrets: dict[int, str] = {}
    for finding in find_secrets(data):
        first = data.count(b"\n", 0, finding.start) + 1
        for line in range(first, first + data.count(b"\n", finding.start, finding.end) + 1):
            secrets.setdefault(line, finding.rule)
    # A key is refused by its first line alone, although only the encoded lines are masked in an index.
    lines = text.split("\n")
    inside = False
    for line, content in enumerate(lines, 1):
        inside = inside or (_PEM_BEGIN in content and _KEY_HEADER in content)
        if inside:
            secrets.setdefault(line, PRIVATE_KEY)
        inside = inside and _PEM_END not in content
    return secrets
