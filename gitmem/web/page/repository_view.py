"""Pages of the repositories: the list, and one with its content, runs and configuration."""

from typing import Any, Final

from gitmem.actions.repository_rows import read_row, read_rows, row_json, run_json, totals_json
from gitmem.errors import GitmemError
from gitmem.freshness.index_runs import read_runs
from gitmem.resident.call import Call
from gitmem.secrets.masking import mask_text, mask_value
from gitmem.settings import SETTINGS
from gitmem.web.api.repositories import show_configuration
from gitmem.web.page.charts import Point, growth, share_bar, shares_of
from gitmem.web.page.view import Page, Query, first
from gitmem.web.service import Service

_RUNS: Final = 20
_CHART_RUNS: Final = 60
STATES: Final = {
    "Up to Date": "good",
    "Updating": "busy",
    "Cancelling": "busy",
    "Needs Update": "warn",
    "No Index": "warn",
    "Missing": "bad",
    "Unreadable": "bad",
}
"""Class of each state in the style sheet."""

_REBUILD: Final = frozenset({"maxFileBytes", "chunkMaxBytes", "chunkOverlapBytes"})
"""Settings whose change rebuilds the index."""

_RESCAN: Final = frozenset({"include", "exclude", "languages"})
"""Settings whose change makes the next run compare all paths with the index."""


def repositories_page(service: Service, _query: Query, _call: Call) -> Page:
    """Show all repositories with their states."""
    rows = read_rows(service.environment)
    values = [mask_value(row_json(row)) for row in rows]
    running = {job.repository: job.as_json() for job in service.jobs.running()}
    return Page("repositories", {"rows": values, "totals": totals_json(rows), "states": STATES, "running": running})


def repository_page(service: Service, query: Query, _call: Call) -> Page:
    """Show one repository."""
    repository = service.known(first(query, "name"))
    row = read_row(repository, service.environment)
    value = mask_value(row_json(row))
    job = service.jobs.find(repository.name)
    languages = shares_of({name: counts["chunks"] for name, counts in value["languages"].items()})
    types = shares_of(value["chunk_types"])
    values: dict[str, Any] = {
        "row": value,
        "states": STATES,
        "job": job.as_json() if job else None,
        "languages": languages,
        "languages_chart": share_bar(languages, "Chunks by language"),
        "types": types,
        "types_chart": share_bar(types, "Chunks by type"),
        **_runs(service, repository.name),
    }
    return Page("repository", values)


def _runs(service: Service, name: str) -> dict[str, Any]:
    """Return the log of runs and the growth of the index; both are empty if the repository cannot be opened."""
    try:
        runs = read_runs(service.workspace(name).paths)
    except GitmemError:
        return {"runs": [], "growth": ""}
    # Runs with nothing to do are not logged, so each point is a change of the index.
    points = [Point(run.at, int(run.report.get("chunks", 0))) for run in runs[-_CHART_RUNS:]]
    newest = [mask_value(run_json(run)) for run in runs[::-1][:_RUNS]]
    return {"runs": newest, "growth": growth(points, "Chunks in the index after each run")}


def configuration_page(service: Service, query: Query, call: Call) -> Page:
    """Show the settings of a repository, their origins, and the cost of a change."""
    name = first(query, "name")
    values = show_configuration(service, {"repository": name}, call)
    about = {setting.key: setting for setting in SETTINGS}
    for row in values["settings"]:
        setting = about.get(row["name"])
        row["meaning"] = setting.meaning if setting else "A rule of `.gitmem.toml`, which the team commits."
        row["values"] = mask_text(setting.values) if setting else ""
        short = row["name"].partition(".")[2]
        row["cost"] = _cost(short)
    return Page("configuration", {"repository": name, **values})


def _cost(setting: str) -> str:
    if setting in _REBUILD:
        return "the next run embeds everything again"
    return "the next run compares all paths with the index" if setting in _RESCAN else "none"
