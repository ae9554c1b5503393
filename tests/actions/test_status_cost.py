"""Cost of `git status`, and the setting that `doctor` recommends."""

import pytest

from gitmem.actions.doctor import OK, WARN, examine_repository
from gitmem.actions.status_cost import find_remedy
from gitmem.git.status_shortcuts import StatusShortcuts
from tests.gitrepo import Repo

CACHE, MONITOR = "git config core.untrackedCache true", "git config core.fsmonitor true"


@pytest.mark.parametrize(
    ("shortcuts", "untracked", "has_monitor", "remedy"),
    [
        (StatusShortcuts(), 0.6, False, CACHE),
        (StatusShortcuts(), 0.6, True, CACHE),
        (StatusShortcuts(), 0.1, True, MONITOR),
        (StatusShortcuts(), 0.1, False, ""),
        (StatusShortcuts(cached=True), 0.6, True, MONITOR),
        (StatusShortcuts(cached=True), 0.6, False, ""),
        (StatusShortcuts(cached=True, daemon=True), 0.6, True, ""),
        (StatusShortcuts(cached=True, program="/usr/bin/monitor"), 0.6, True, ""),
    ],
)
def test_the_setting_that_saves_most_is_recommended(
    shortcuts: StatusShortcuts, untracked: float, has_monitor: bool, remedy: str
) -> None:
    assert find_remedy(shortcuts, 1.0, untracked, has_monitor=has_monitor) == remedy


def test_doctor_warns_only_if_a_setting_helps(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.actions.status_cost.HIGH_SECONDS", 0.0)
    monkeypatch.setattr("gitmem.actions.status_cost.find_remedy", lambda *_, **__: CACHE)
    check = next(check for check in examine_repository(own.path, {}) if check.name == "git status")
    assert (check.state, check.remedy) == (WARN, CACHE)
    monkeypatch.setattr("gitmem.actions.status_cost.find_remedy", lambda *_, **__: "")
    check = next(check for check in examine_repository(own.path, {}) if check.name == "git status")
    assert (check.state, check.remedy) == (OK, "")
