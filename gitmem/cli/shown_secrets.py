"""`--show-secrets`: keys, tokens and passwords are shown as dots unless it is on the command line."""

from typing import Any, Final

import click

_SHOWS: Final = "shows secrets"


def _store(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.obj[_SHOWS] = value


show_secrets_option = click.option(
    "--show-secrets", is_flag=True, expose_value=False, callback=_store, help="Show keys, tokens and passwords."
)


def shows_secrets() -> bool:
    """Return whether the command shows secrets. A setting could not ask for it: agents run commands too."""
    context = click.get_current_context(silent=True)  # none before a command is known, and none after its end
    return bool(context and context.obj and context.obj.get(_SHOWS))


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
