"""`gitmem completion`."""

import click

from gitmem.cli.root import COMPLETE_VARIABLE, root
from gitmem.errors import ExitCode

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> ExitCode:
    """Print the completion script of a shell.

    \b
    Examples:
      eval "$(gitmem completion bash)"                                       # in ~/.bashrc
      eval "$(gitmem completion zsh)"                                        # in ~/.zshrc
      gitmem completion fish > ~/.config/fish/completions/gitmem.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None, "click knows these shells"
    print(made(root, {}, "gitmem", COMPLETE_VARIABLE).source())
    return ExitCode.OK
