"""Keys, tokens and passwords are shown as dots unless `--show-secrets` is on the command line."""

from typing import Any

from gitmem.cli.invocation import find_invocation


def shows_secrets() -> bool:
    """Return whether the command shows secrets. A setting could not ask for it: agents run commands too."""
    invocation = find_invocation()
    return invocation is not None and invocation.shows_secrets


def shown_text(text: str) -> str:
    """Return text as the command shows it: secrets are dots unless it has `--show-secrets`."""
    if shows_secrets():
        return text
    from gitmem.secrets.masking import mask_text  # not needed by commands that print no content

    return mask_text(text)


def shown_value(value: Any) -> Any:
    """Return a JSON value as the command shows it."""
    if shows_secrets():
        return value
    from gitmem.secrets.masking import mask_value

    return mask_value(value)
