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

    completion_class = get_completion_class(shell)
    assert completion_class is not None, "click supports these shells"
    print(completion_class(root, {}, "gitmem", COMPLETE_VARIABLE).source())
    return ExitCode.OK
