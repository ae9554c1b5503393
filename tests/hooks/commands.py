"""Twelve git commands as people use them, each leaving HEAD on a branch and the working tree clean."""

from collections.abc import Callable
from typing import Final

from tests.hooks.worlds import World

UNFOLLOWED: Final = frozenset({"am"})
"""Commands after which git calls none of our hooks: the next event, or question, makes up for them."""


def _commit(world: World, name: str) -> None:
    world.commit(name)
    world.commit(f"{name}_more")


def _amend(world: World, name: str) -> None:
    world.commit(name)
    world.write(f"{name}.py", f"def {name}():\n    return 'amended'\n")
    world.git("commit", "-q", "--amend", "--no-edit")


def _merge(world: World, name: str) -> None:
    world.git("checkout", "-q", "-b", name)
    world.commit(name)
    world.git("checkout", "-q", "-")
    world.commit(f"{name}_here")
    world.git("merge", "-q", "--no-edit", name)


def _fast_forward(world: World, name: str) -> None:
    world.git("checkout", "-q", "-b", name)
    world.commit(name)
    world.git("checkout", "-q", "-")
    world.git("merge", "-q", "--ff-only", name)


def _rebase(world: World, name: str) -> None:
    world.git("checkout", "-q", "-b", name)
    world.commit(name)
    world.commit(f"{name}_more")
    world.git("checkout", "-q", "-")
    world.commit(f"{name}_here")
    world.git("checkout", "-q", name)
    world.git("rebase", "-q", "@{-1}")
    world.git("checkout", "-q", "-")
    world.git("merge", "-q", "--ff-only", name)


def _cherry_pick(world: World, name: str) -> None:
    world.git("checkout", "-q", "-b", name)
    world.commit(name)
    world.git("checkout", "-q", "-")
    world.git("cherry-pick", name)


def _revert(world: World, name: str) -> None:
    world.commit(name)
    world.git("revert", "--no-edit", "HEAD")


def _checkout(world: World, name: str) -> None:
    world.git("checkout", "-q", "-b", name)
    world.commit(name)
    world.git("checkout", "-q", "-")
    world.git("checkout", "-q", name)
    world.git("checkout", "-q", "HEAD~1", "--", "shared.py")
    world.git("checkout", "-q", "-")


def _switch(world: World, name: str) -> None:
    world.git("switch", "-q", "-c", name)
    world.commit(name)
    world.git("switch", "-q", "-")
    world.git("switch", "-q", "--detach", name)
    world.git("switch", "-q", "-")


def _pull(world: World, name: str) -> None:
    upstream = World(world.path.parent / "upstream", world.environment)
    upstream.git("pull", "-q", "--no-rebase", str(world.path), "HEAD")
    upstream.commit(name)
    world.commits += upstream.commits
    world.git("pull", "-q", "--no-rebase", "--no-edit", str(upstream.path), "HEAD")


def _stash(world: World, name: str) -> None:
    world.commit(name)
    world.write(f"{name}.py", f"def {name}():\n    return 'stashed'\n")
    world.git("stash", "push", "-q")
    world.git("stash", "pop", "-q")
    world.git("commit", "-q", "-a", "-m", f"take {name} from the stash")


def _am(world: World, name: str) -> None:
    world.commit(name)
    patch = world.git("format-patch", "-1", "--stdout")
    world.git("reset", "-q", "--hard", "HEAD~1")
    world.git("am", "-q", stdin=patch.out)


COMMANDS: Final[dict[str, Callable[[World, str], None]]] = {
    "commit": _commit,
    "commit --amend": _amend,
    "merge": _merge,
    "fast-forward": _fast_forward,
    "rebase": _rebase,
    "cherry-pick": _cherry_pick,
    "revert": _revert,
    "checkout": _checkout,
    "switch": _switch,
    "pull": _pull,
    "stash": _stash,
    "am": _am,
}
