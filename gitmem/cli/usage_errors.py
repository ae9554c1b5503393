"""Message and hint of the errors that click raises."""

from collections.abc import Iterable, Mapping
from typing import Final

import click

_OTHER_NAMES: Final[Mapping[str, str]] = {
    name: option
    for option, names in {
        "--limit": "-k -m --count --k --max-count --max-results --num --num-results --results --top --top-k",
        "--rev": "-b --branch --commit --ref --revision --tag",
        "--staged": "--cached --index",
        "--path": "-g -p --dir --directory --glob --include --paths",
        "--lang": "-t --file-type --filetype --language --languages",
        "--context": "-A -B --after-context --before-context --lines",
        "--paths-only": "--files --files-only --files-with-matches --name-only",
        "--json": "-o --as-json --format --output --output-format",
        "--min-score": "--score --threshold",
        "--since": "--after --from",
        "--until": "--before --to",
        "--repo": "--project --repository",
    }.items()
    for name in names.split()
}
"""Names of options in grep, ripgrep, git and other search tools, with our names."""


def explain_usage(problem: click.ClickException) -> tuple[str, str]:
    """Return message and hint of a usage error. The cases that name a value are formatted as gitmem's own errors."""
    context = getattr(problem, "ctx", None)
    help_command = f"{context.command_path if context is not None else 'gitmem'} --help"
    if isinstance(problem, click.NoSuchOption):
        return f"no such option: `{problem.option_name}`", _option_hint(problem) or help_command
    choices = getattr(getattr(getattr(problem, "param", None), "type", None), "choices", ())
    if isinstance(problem, click.BadParameter) and choices and problem.param and "is not one of" in problem.message:
        value = problem.message.partition(" is not one of")[0].strip("'\"")
        name = next(
            (option for option in problem.param.opts if option.startswith("--")), problem.param.human_readable_name
        )
        similar = _find_similar(value, map(str, choices))
        advice = f"did you mean `{similar}`? " if similar else ""
        return f"`{name}` is `{value}`, expected one of: {', '.join(map(str, choices))}", advice + help_command
    message = " ".join(problem.format_message().split()).rstrip(".")
    return message[:1].lower() + message[1:], help_command


def _option_hint(problem: click.NoSuchOption) -> str:
    """Return the option that a wrong one may mean; click itself suggests options that only share a few letters."""
    context = problem.ctx
    if context is None:
        return ""
    if problem.option_name in _options(context.find_root()):
        command = context.command_path.partition(" ")[2]
        return f"`{problem.option_name}` comes before the command: gitmem {problem.option_name} {command} ..."
    options = _options(context)
    other = _OTHER_NAMES.get(problem.option_name, "")
    similar = other if other in options else _find_similar(problem.option_name, options)
    if similar:
        return f"did you mean `{similar}`?"
    leading = getattr(context.command, "leading_dash_hint", None)
    return leading(problem.option_name) if leading else ""


def _options(context: click.Context) -> list[str]:
    return [option for param in context.command.get_params(context) for option in param.opts]


def _find_similar(name: str, known: Iterable[str]) -> str:
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong names only

    return find_similar_name(name, known)
