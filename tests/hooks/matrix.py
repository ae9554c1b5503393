"""Twelve git commands in six environments: nothing fails, nothing is printed, HEAD is indexed at the end.

The same commands run in a repository with empty hooks: exit codes and output must be equal, and the difference in time
is the cost of the hooks.
"""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tests.hooks.commands import COMMANDS, UNFOLLOWED
from tests.hooks.worlds import ENVIRONMENTS, World, make_world, settle


@dataclass(slots=True)
class Tally:
    """Result of a run of the matrix. `added` are the seconds by which commits took longer than with empty hooks."""

    commits: int = 0
    commands: int = 0
    bad: list[str] = field(default_factory=list)
    added: dict[str, list[float]] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.commands} git commands, {self.commits} commits, {len(self.bad)} bad", *self.bad[:20]]
        for environment, seconds in self.added.items():
            lines.append(f"{environment:16} a commit takes {1000 * median(seconds):5.1f} ms longer (median)")
        return "\n".join(lines)


def run(
    rounds: int,
    environments: Iterable[str] = ENVIRONMENTS,
    hooks: str = "gitmem",
    *,
    commands: Sequence[str] = tuple(COMMANDS),
    each: bool = False,
) -> Tally:
    """Run the matrix. With `each` the index is compared after every command, otherwise at the end of a round."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for environment in environments:
            _run_environment(Path(folder), environment, rounds, hooks, tally, commands, each=each)
    return tally


def _run_environment(
    base: Path, environment: str, rounds: int, hooks: str, tally: Tally, commands: Sequence[str], *, each: bool
) -> None:
    world, control = (make_world(base / hook_kind, environment, hook_kind) for hook_kind in (hooks, "empty"))
    for number in range(rounds):
        for command in commands:
            name = f"{command.split()[-1].strip('-').replace('-', '_')}_{number}"
            for one in (world, control):
                COMMANDS[command](one, name)
            _compare(world, control, f"{environment}, {command}", tally)
            if each and command not in UNFOLLOWED:
                _require_indexed(world, environment, f"{environment}, {command}", tally)
        world.commit(f"end_{number}")
        control.commit(f"end_{number}")
        _require_indexed(world, environment, f"{environment}, round {number}", tally)
    tally.commits += world.commits


def _compare(world: World, control: World, label: str, tally: Tally) -> None:
    for ours, theirs in zip(world.runs, control.runs, strict=True):
        tally.commands += 1
        if ours.args[0] == "commit":
            tally.added.setdefault(label.partition(",")[0], []).append(ours.seconds - theirs.seconds)
        if (ours.code, ours.out) != (theirs.code, theirs.out) or theirs.code:
            output = ours.out.decode("utf-8", "replace").strip()
            tally.bad.append(f"{label}: git {' '.join(ours.args)} gave {ours.code} (not {theirs.code}): {output[:200]}")
    world.runs.clear()
    control.runs.clear()


def _require_indexed(world: World, environment: str, label: str, tally: Tally) -> None:
    if environment != "gitmem gone" and not settle(world.path):
        tally.bad.append(f"{label}: HEAD is not indexed")
