"""`gitmem eval`."""

from typing import Any

import click

from gitmem.actions.eval import Evaluation, evaluate, prepare, require_weights
from gitmem.actions.eval import tune as fit_weights
from gitmem.answering.weights_in_force import reset_weights
from gitmem.cli.context import is_quiet, open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.progress import ProgressLine
from gitmem.display import count, duration, shares
from gitmem.errors import ExitCode
from gitmem.git.locate import describe_head
from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Gain
from gitmem.search.weight_fit import Fit
from gitmem.workspace import Workspace


@click.command()
@click.option("--tune", is_flag=True, help="Fit the weights of words and meaning, and keep them where they are better.")
@click.option("--reset", is_flag=True, help="Go back to the default weights; nothing is asked.")
@click.option("--commits", type=click.IntRange(1, 10_000), metavar="N", default=200, show_default=True,
              help="Ask what at most N commits ask.")  # fmt: skip
@click.option("--budget", type=click.IntRange(0, 86_400), metavar="SECONDS", default=60, show_default=True,
              help="Ask nothing more after this time.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, tune: bool, reset: bool, commits: int, budget: int, as_json: bool) -> ExitCode:
    """Measure the answers on this repository's own history, and tune to it.

    The subject of a commit is a question, the code that it changed the answer; each question is asked of the tree
    before its commit. The figures are of one half of the commits, chosen by their ids. --tune fits on the other half
    and keeps what it finds only where the first half, too, is answered better by more than the standard error. The
    exit code is 1 where too few commits say what they change.

    \b
    Examples:
      gitmem eval
      gitmem eval --tune
      gitmem eval --tune --commits 1000 --budget 600
      gitmem eval --reset
    """
    if reset and tune:
        raise click.UsageError("`--tune` and `--reset` exclude each other", ctx)
    workspace = open_here(ctx)
    if reset:
        return _reset(workspace, as_json=as_json)
    if tune:
        require_weights(workspace)
    quiet = is_quiet(ctx) or as_json
    with ProgressLine(f"indexing {describe_head(workspace.location)}", quiet=quiet) as indexing:
        prepare(workspace, indexing)
    with ProgressLine("asking", quiet=quiet, unit="question") as asking:
        made = evaluate(workspace, commits=commits, budget=budget, report=asking.step)
    found = None
    if tune:
        with ProgressLine("fitting", quiet=quiet, unit="pair") as fitting:
            found = fit_weights(workspace, made, fitting.step)
    for note in [] if is_quiet(ctx) else made.notes:
        say(f"note: {note}")
    if as_json:
        write_json(_as_json(made, found))
    else:
        print("\n".join([*_lines(made), *(_fit_lines(found) if found else [])]))
    return ExitCode.OK


def _reset(workspace: Workspace, *, as_json: bool) -> ExitCode:
    changed = reset_weights(workspace)
    if as_json:
        write_json({"reset": changed})
    else:
        print("the default weights are in force again" if changed else "the default weights are in force already")
    return ExitCode.OK


def _lines(made: Evaluation) -> list[str]:
    held_out = len(made.held_out.trials)
    lines = [f"{count(made.questions, 'question')} of {count(made.commits, 'commit')}, {held_out:,} held out, "
             f"{duration(made.seconds)}"]  # fmt: skip
    lines.append(f"  {'':9}  NDCG@10  recall@10")
    lines += [f"  {mode:9}  {quality.ndcg:7.3f}  {quality.recall:9.3f}" for mode, quality in made.quality.items()]
    lines.append(f"  weights in force: {_told(made.weights)}")
    lines += [f"  left out: {shares(made.left_out)}"] if made.left_out else []
    return lines


def _fit_lines(found: Fit) -> list[str]:
    if found.weights == FUSION_WEIGHTS:
        return ["fitted: no weights are clearly better on the other half; the default weights are in force"]
    lines = [f"fitted: {_told(found.weights)} (default: {_told(FUSION_WEIGHTS)})"]
    lines.append(f"  on the half fitted to  {_gain(found.fitted)}")
    lines.append(f"  held out               {_gain(found.held_out)}; {found.before.ndcg:.3f} -> {found.after.ndcg:.3f}")
    if found.is_better:
        lines.append("  kept: every question uses them from now on; `gitmem eval --reset` goes back")
    else:
        lines.append("  not kept: the held-out half does not gain clearly; the default weights are in force")
    return lines


def _told(weights: FusionWeights) -> str:
    return f"semantic {weights.semantic:g}, lexical {weights.lexical:g}"


def _gain(gain: Gain) -> str:
    return f"{gain.mean:+.3f} ± {gain.error:.3f} NDCG@10, {gain.better} better, {gain.worse} worse"


def _as_json(made: Evaluation, found: Fit | None) -> dict[str, Any]:
    report: dict[str, Any] = {
        "commits": made.commits,
        "questions": {"all": made.questions, "held_out": len(made.held_out.trials)},
        "quality": {
            mode: {"ndcg_at_10": quality.ndcg, "recall_at_10": quality.recall} for mode, quality in made.quality.items()
        },
        "weights": made.weights._asdict(),
        "left_out": dict(made.left_out),
        "seconds": round(made.seconds, 1),
        "notes": made.notes,
    }
    if found is not None:
        report["tuning"] = {
            "weights": found.weights._asdict(),
            "default": FUSION_WEIGHTS._asdict(),
            "fitted": found.fitted._asdict(),
            "held_out": found.held_out._asdict(),
            "ndcg_at_10": {"default": found.before.ndcg, "fitted": found.after.ndcg},
            "kept": found.is_better,
        }
    return report
