"""`gitmem metrics`: how often operations ran in a repository, how long they took, and what the index holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitmem.display import count, visible
from gitmem.errors import GitmemError
from gitmem.locks import writer_lock
from gitmem.metrics import BUCKETS, Metrics, Series, read_metrics, reset_metrics
from gitmem.named_tuple import NamedTuple
from gitmem.registry import KnownRepository, read_registry
from gitmem.workspace import Workspace, find_index, open_workspace, registered_folder

STORE: Final = ("chunks", "bytes", "segments")
"""Sizes of an index that are shown."""


def read_counts(workspace: Workspace) -> tuple[Metrics, dict[str, int]]:
    """Return the metrics of past operations, and the present size of the index. Raises: UnsafeIndex, StorageFailed."""
    manifest = find_index(workspace)
    if manifest is None:
        return {}, {}
    sizes = (manifest.rows, manifest.bytes, len(manifest.segments))
    return read_metrics(workspace.paths), dict(zip(STORE, sizes, strict=True))


def reset_counts(workspace: Workspace) -> None:
    """Begin to count anew. Raises: UnsafeIndex, StorageFailed, Busy if a run writes the index."""
    if find_index(workspace) is None:
        return
    with writer_lock(workspace.paths.lock, wait=False):
        reset_metrics(workspace.paths)


def metrics_json(metrics: Metrics, store: Mapping[str, int]) -> dict[str, Any]:
    """Return metrics as JSON values; the bounds of the buckets are seconds."""
    return {
        "operations": [
            {
                "operation": name,
                "outcome": outcome,
                "count": one.count,
                "seconds": round(one.seconds, 6),
                "buckets": dict(zip([*map(str, BUCKETS), "+Inf"], one.buckets, strict=True)),
                "amounts": one.amounts,
            }
            for (name, outcome), one in sorted(metrics.items())
        ],
        "store": dict(store),
    }


def metrics_lines(metrics: Metrics, store: Mapping[str, int]) -> list[str]:
    """Return metrics as lines of text."""
    lines = [f"{name} {outcome}: {_describe(one)}" for (name, outcome), one in sorted(metrics.items())]
    lines += [f"store {name}: {value:,}" for name, value in store.items()]
    return lines or ["no operation was counted yet"]


def _describe(series: Series) -> str:
    parts = [count(series.count, "time"), f"mean {1000 * series.seconds / series.count:,.0f} ms"]
    bounds = [f"p{share} <= {1000 * bound:,.0f} ms" for share in (50, 95)
              if (bound := series.quantile(share / 100)) != float("inf")]  # fmt: skip
    amounts = [f"{value:,} {name.replace('_', ' ')}" for name, value in series.amounts.items()]
    return ", ".join([*parts, *bounds, *amounts])


class RepositoryMetrics(NamedTuple):
    """Metrics and size of the index of a repository under its name. `problem` is why they cannot be read, if so."""

    name: str
    metrics: Metrics
    store: Mapping[str, int]
    problem: str = ""


def read_all_metrics(environment: Mapping[str, str]) -> list[RepositoryMetrics]:
    """Return the metrics of all registered repositories, in order of name. Raises: StorageFailed."""
    return [_read_one(known, environment) for known in read_registry(environment)]


def _read_one(known: KnownRepository, environment: Mapping[str, str]) -> RepositoryMetrics:
    try:
        return RepositoryMetrics(known.name, *read_counts(open_workspace(known.path, environment)))
    except GitmemError as problem:  # one repository must not hide the others
        return RepositoryMetrics(known.name, {}, {}, problem.message)


def own_metrics(workspace: Workspace, environment: Mapping[str, str]) -> RepositoryMetrics:
    """Return the metrics of one repository under its registered name, else that of its folder. Raises: UnsafeIndex."""
    root = registered_folder(workspace)
    names = [known.name for known in read_registry(environment) if known.path == root]
    return RepositoryMetrics(names[0] if names else root.name, *read_counts(workspace))


def prometheus_text(repositories: Sequence[RepositoryMetrics]) -> str:
    """Return metrics in the text format of Prometheus, version 0.0.4.

    All samples of a name are together, as the format asks for. Each has the repository as a label, so files of several
    repositories can be collected next to each other.
    """
    rows = [
        (f'repository="{_escape(one.name)}",{_labels(*name)}', series)
        for one in repositories
        for name, series in sorted(one.metrics.items())
    ]
    lines = _heading("gitmem_operation_seconds", "histogram", "Durations of operations.")
    lines += [line for labels, series in rows for line in _histogram_lines(labels, series)]
    lines += _heading("gitmem_amount_total", "counter", "Amounts that operations handled.")
    for labels, series in rows:
        for amount, value in series.amounts.items():
            lines.append(f'gitmem_amount_total{{{labels},amount="{amount}"}} {value}')
    for name in STORE:
        lines += _heading(f"gitmem_store_{name}", "gauge", f"Present {name} of the index.")
        lines += [
            f'gitmem_store_{name}{{repository="{_escape(one.name)}"}} {one.store[name]}'
            for one in repositories
            if name in one.store
        ]
    lines += _heading("gitmem_repository_readable", "gauge", "1 if the metrics of the repository can be read, else 0.")
    for one in repositories:
        lines.append(f'gitmem_repository_readable{{repository="{_escape(one.name)}"}} {int(not one.problem)}')
    return "\n".join(lines) + "\n"


def _heading(name: str, metric_type: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {metric_type}"]


def _histogram_lines(labels: str, series: Series) -> Iterator[str]:
    total = 0
    for bound, number in zip([*map(str, BUCKETS), "+Inf"], series.buckets, strict=True):
        total += number  # the buckets of Prometheus contain the smaller ones
        yield f'gitmem_operation_seconds_bucket{{{labels},le="{bound}"}} {total}'
    yield f"gitmem_operation_seconds_sum{{{labels}}} {series.seconds:.6f}"
    yield f"gitmem_operation_seconds_count{{{labels}}} {series.count}"


def _labels(name: str, outcome: str) -> str:
    component, _, operation = name.partition(".")
    return f'component="{_escape(component)}",operation="{_escape(operation)}",outcome="{_escape(outcome)}"'


def _escape(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')
