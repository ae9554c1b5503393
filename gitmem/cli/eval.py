"""`gitmem eval`."""

from typing import Any

import click

from gitmem.actions.eval import Evaluation, evaluate, prepare, require_halves, require_weights
from gitmem.actions.eval import tune as fit_weights
from gitmem.answering.weights_in_force import reset_weights
from gitmem.cli.context import open_here, write_json
from gitmem.cli.error_output import say
from gitmem.cli.progress import ProgressLine
from gitmem.display import count, duration, shares
from gitmem.errors import ExitCode
from gitmem.git.locate import describe_head
from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Gain
from gitmem.search.weight_fit import WeightFit
from gitmem.workspace import Workspace


@click.command()
@click.option("--tune", is_flag=True, help="Fit the weights of both scores; use them if they are better.")
@click.option("--reset", is_flag=True, help="Return to the default weights and exit.")
@click.option("--commits", type=click.IntRange(1, 10_000), metavar="N", default=200, show_default=True,
              help="Use at most N commits.")  # fmt: skip
@click.option("--budget", type=click.IntRange(0, 86_400), metavar="SECONDS", default=60, show_default=True,
              help="Stop after this time.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
@click.pass_context
def command(ctx: click.Context, tune: bool, reset: bool, commits: int, budget: int, as_json: bool) -> ExitCode:
    """Evaluate the search on this repository's own history, and tune it.

    Past commits are labelled queries: the subject is the query, the changed code is the answer, and the search runs on
    the tree before the commit. The figures are those of one half of the commits, chosen by their ids, or of all if
    there are fewer than 15 in either half. --tune fits on the other half and uses the fitted weights only if they also
    improve the first half by more than the standard error. The exit code is 1 if no commit has an informative subject,
    and with --tune if there are too few.

    \b
    Examples:
      gitmem eval
      gitmem eval --tune
      gitmem eval --tune --commits 1000 --budget 600
      gitmem eval --reset
    """
    if reset and tune:
        raise click.UsageError("`--tune` and `--reset` exclude each other", ctx)
    workspace = open_here(ctx.obj)
    if reset:
        return _reset(workspace, as_json=as_json)
    if tune:
        require_weights(workspace)
    quiet = ctx.obj.quiet or as_json
    with ProgressLine(f"indexing {describe_head(workspace.location)}", quiet=quiet) as indexing:
        prepare(workspace, indexing)
    with ProgressLine("searching", quiet=quiet, unit="commit") as searching:
        evaluation = evaluate(workspace, commits=commits, budget=budget, report=searching.step)
    fitted = None
    if tune and evaluation.is_split:
        with ProgressLine("fitting", quiet=quiet, unit="pair") as fitting:
            fitted = fit_weights(workspace, evaluation, fitting.step)
    for note in [] if ctx.obj.quiet else evaluation.notes:
        say(f"note: {note}")
    if as_json:
        write_json(_as_json(evaluation, fitted))
    else:
        print("\n".join([*_lines(evaluation), *(_fit_lines(fitted) if fitted else [])]))
    if tune:
        require_halves(workspace, evaluation)
    return ExitCode.OK


def _reset(workspace: Workspace, *, as_json: bool) -> ExitCode:
    changed = reset_weights(workspace)
    if as_json:
        write_json({"reset": changed})
    else:
        print("the default weights are in force again" if changed else "the default weights are in force already")
    return ExitCode.OK


def _lines(evaluation: Evaluation) -> list[str]:
    held_out = f"{len(evaluation.held_out.trials):,} held out" if evaluation.is_split else "too few to hold out half"
    queries = "1 query" if evaluation.queries == 1 else f"{evaluation.queries:,} queries"
    lines = [f"{queries} from {count(evaluation.commits, 'commit')}, {held_out}, {duration(evaluation.seconds)}"]
    lines.append(f"  {'':9}  {'changed code':18}  changed files")
    lines.append(f"  {'':9}" + 2 * "  NDCG@10  recall@10")
    for mode, quality in evaluation.quality.items():
        shown = (quality, evaluation.file_quality[mode])
        lines.append(f"  {mode:9}" + "".join(f"  {one.ndcg:7.3f}  {one.recall:9.3f}" for one in shown))
    lines.append(f"  weights in force: {_describe(evaluation.weights)}")
    lines += [f"  rejected: {shares(evaluation.rejected)}"] if evaluation.rejected else []
    return lines


def _fit_lines(fit: WeightFit) -> list[str]:
    if fit.weights == FUSION_WEIGHTS:
        return ["fitted: no weights are clearly better on the other half; the default weights are in force"]
    lines = [f"fitted: {_describe(fit.weights)} (default: {_describe(FUSION_WEIGHTS)})"]
    lines.append(f"  on the half fitted to  {_gain(fit.fitted)}")
    lines.append(f"  held out               {_gain(fit.held_out)}; {fit.before.ndcg:.3f} -> {fit.after.ndcg:.3f}")
    if fit.is_better:
        lines.append("  in force: every query uses them from now on; `gitmem eval --reset` undoes it")
    else:
        lines.append("  not in force: the held-out half does not improve clearly; the default weights stay")
    return lines


def _describe(weights: FusionWeights) -> str:
    return f"semantic {weights.semantic:g}, lexical {weights.lexical:g}"


def _gain(gain: Gain) -> str:
    return f"{gain.mean:+.3f} ± {gain.error:.3f} NDCG@10, {gain.better} better, {gain.worse} worse"


def _as_json(evaluation: Evaluation, fit: WeightFit | None) -> dict[str, Any]:
    report: dict[str, Any] = {
        "commits": evaluation.commits,
        "queries": {
            "all": evaluation.queries,
            "held_out": len(evaluation.held_out.trials),
            "measured": sum(len(half.trials) for half in evaluation.measured),
        },
        "quality": {
            mode: {"ndcg_at_10": quality.ndcg, "recall_at_10": quality.recall}
            for mode, quality in evaluation.quality.items()
        },
        "file_quality": {
            mode: {"ndcg_at_10": quality.ndcg, "recall_at_10": quality.recall}
            for mode, quality in evaluation.file_quality.items()
        },
        "weights": evaluation.weights._asdict(),
        "rejected": dict(evaluation.rejected),
        "seconds": round(evaluation.seconds, 1),
        "notes": evaluation.notes,
    }
    if fit is not None:
        report["tuning"] = {
            "weights": fit.weights._asdict(),
            "default": FUSION_WEIGHTS._asdict(),
            "fitted": fit.fitted._asdict(),
            "held_out": fit.held_out._asdict(),
            "ndcg_at_10": {"default": fit.before.ndcg, "fitted": fit.after.ndcg},
            "kept": fit.is_better,
        }
    return report
