"""Groups of commands: they print their help if no command is named, and suggest one for an unknown name."""

from collections.abc import Iterable
from typing import Final

import click

from gitmem.cli.global_flags import with_global_flags

_SYNONYMS: Final = {
    "add": ("append",),
    "ask": ("query",),
    "blame": ("when",),
    "callers": ("usages",),
    "cat": ("get", "show"),
    "chat": ("conversation",),
    "create": ("add", "append", "init"),
    "definition": ("usages",),
    "del": ("delete", "remove", "uninstall"),
    "delete": ("remove",),
    "diff": ("changes",),
    "docs": ("doc",),
    "edit": ("add",),
    "find": ("search", "query"),
    "get": ("show",),
    "grep": ("search", "query"),
    "history": ("when",),
    "info": ("status", "show"),
    "log": ("when", "list"),
    "ls": ("list",),
    "new": ("add", "append"),
    "note": ("memory",),
    "notes": ("memory",),
    "outline": ("map",),
    "recall": ("search", "query"),
    "references": ("usages",),
    "refresh": ("index",),
    "refs": ("usages",),
    "reindex": ("index",),
    "remember": ("memory",),
    "remove": ("delete", "uninstall"),
    "rm": ("delete", "remove"),
    "server": ("serve", "mcp"),
    "settings": ("config",),
    "show": ("get",),
    "similar": ("related",),
    "store": ("add",),
    "symbols": ("map",),
    "tree": ("map",),
    "ui": ("open",),
    "undelete": ("restore",),
    "uninit": ("uninstall",),
    "update": ("index", "add"),
    "view": ("show", "get"),
    "web": ("open",),
}
"""Names that other programs use, with the commands of gitmem that do the same."""


class CommandGroup(click.Group):
    """Group that prints its help if no command is named, and suggests a command for an unknown name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and not self.has_command(ctx, name):
            group = ctx.command_path.partition(" ")[2]
            similar = suggest_command(name, self.list_commands(ctx))
            advice = f", did you mean `{f'{group} {similar}'.strip()}`?" if similar else ""
            raise click.UsageError(f"no such command: `{f'{group} {name}'.strip()}`{advice}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self.find_command(ctx, cmd_name)
        return None if command is None else with_global_flags(command)

    def find_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of a name, as it is defined; None for an unknown name."""
        return super().get_command(ctx, name)

    def has_command(self, ctx: click.Context, name: str) -> bool:
        """Return whether a name is that of a command, without importing the command."""
        return name in self.list_commands(ctx)


def suggest_command(name: str, known: Iterable[str]) -> str:
    """Return the known command that a name may mean, by its meaning or else by its spelling; "" if there is none."""
    commands = list(known)
    synonym = next((other for other in _SYNONYMS.get(name, ()) if other in commands), "")
    if synonym:
        return synonym
    from gitmem.suggestions import find_similar_name  # slow to load, and needed for wrong names only

    return find_similar_name(name, commands)
