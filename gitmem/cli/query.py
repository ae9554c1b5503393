"""`gitmem query`."""

import sys

import click

from gitmem.actions.query import MODES, Answer, Request, answer
from gitmem.cli.session import open_here, write_json
from gitmem.search.snippet import make_snippet


@click.command()
@click.argument("text")
@click.option("-n", "--limit", type=int, default=0)
@click.option("--rev", default="")
@click.option("--path", "include", multiple=True)
@click.option("--exclude", multiple=True)
@click.option("--lang", multiple=True)
@click.option("--type", "kinds", multiple=True)
@click.option("--mode", type=click.Choice(MODES), default="hybrid")
@click.option("-l", "paths_only", is_flag=True)
@click.option("--json", "as_json", is_flag=True)
@click.option("--no-refresh", is_flag=True)
@click.pass_context
def command(ctx: click.Context, text: str, limit: int, rev: str, include: tuple[str, ...], exclude: tuple[str, ...],
            lang: tuple[str, ...], kinds: tuple[str, ...], mode: str, paths_only: bool, as_json: bool,
            no_refresh: bool) -> int:  # fmt: skip
    """Ask in words or symbols, get the code."""
    request = Request(text, limit, rev, include, exclude, lang, kinds, mode, not no_refresh)
    made = answer(open_here(ctx), request)
    if as_json:
        write_json([{"path": hit.path, "start_line": hit.start_line, "end_line": hit.end_line, "symbol": hit.symbol, "score": hit.score} for hit, _ in made.hits])
    else:
        _show(made)
    return 0 if made.hits else 1


def _show(made: Answer) -> None:
    for hit, lines in made.hits:
        print(f"{hit.path}:{hit.start_line}-{hit.end_line}  {hit.symbol}  {hit.score:.2f}")
        for line in make_snippet(lines, hit.start_line, made.terms):
            print(f"{line.number:5}  {line.text}" if line.number else "   ⋮")
    for note in made.notes:
        print(note, file=sys.stderr)
