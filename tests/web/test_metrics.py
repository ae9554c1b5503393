"""`/metrics`: the counters of all repositories of a user for Prometheus."""

import shutil
from pathlib import Path

from gitmem.registry import add_repository
from tests.sample import SIGN
from tests.web.served import BEARER, Served


def test_metrics_of_all_repositories_are_served_to_who_has_the_token(writing: Served, tmp_path: Path) -> None:
    for name in ("gone", "plain"):
        (tmp_path / name).mkdir()
        add_repository(writing.environment, tmp_path / name, name)
    shutil.rmtree(tmp_path / "gone")
    writing.get("/search", query=SIGN, repository="sample")
    assert writing.client.get("/metrics").status_code == 401
    answer = writing.client.get("/metrics", headers=BEARER)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    labels = 'repository="sample",component="search",operation="repositories",outcome="ok"'
    assert f"gitmem_operation_seconds_count{{{labels}}} 1" in lines
    assert [line for line in lines if line.startswith("gitmem_repository_readable")] == [
        'gitmem_repository_readable{repository="gone"} 0',
        'gitmem_repository_readable{repository="plain"} 0',
        'gitmem_repository_readable{repository="sample"} 1',
    ]
    assert sum(line.startswith('gitmem_store_chunks{repository="sample"} ') for line in lines) == 1
    assert SIGN not in answer.text
    # A name with samples of another one in between is an error of the format.
    names = [line.partition("{")[0] for line in lines if not line.startswith("#") and "_bucket" not in line]
    gauges = [name for name in names if not name.startswith("gitmem_operation")]
    assert len([one for one, next_one in zip(gauges, [*gauges[1:], ""], strict=True) if one != next_one]) == len(
        set(gauges)
    )


def test_metrics_are_only_read(reading: Served) -> None:
    assert reading.client.post("/metrics", headers=BEARER).status_code == 405
