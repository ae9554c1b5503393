"""`gitmem completion`."""

import click

from gitmem.cli.completion_scripts import SCRIPTS
from gitmem.errors import ExitCode


@click.command()
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def command(shell: str) -> ExitCode:
    """Print the completion script of a shell.

    It completes commands, options, file names, revisions, languages, ids of records and names of conversations and
    repositories. zsh needs no `compinit`.

    \b
    Examples:
      eval "$(gitmem completion bash)"                                       # in ~/.bashrc
      eval "$(gitmem completion zsh)"                                        # in ~/.zshrc
      gitmem completion fish > ~/.config/fish/completions/gitmem.fish
    """
    print(SCRIPTS[shell].strip())
    return ExitCode.OK
