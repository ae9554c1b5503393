"""Messages of commits are searched in the tree before the commit, in both modes."""

import argparse
import json
from pathlib import Path
from typing import Any

from tests.bench.change_requests import LINE, SUBJECT, TEXT, measure, read_messages
from tests.gitrepo import Repo

_RING = "def rotate_keys(ring):\n    # Connections keep theirs.\n    return ring[1:] + ring[:1]\n"
_POOL = "def close_pool(pool):\n    pool.connections.clear()\n"


def mined_query(repo: Repo, subject: str, text: str, path: str) -> dict[str, Any]:
    """Return a line of a mined history for the tree of HEAD."""
    tree = repo.git("rev-parse", "HEAD^{tree}")
    return {"commit": "0" * 40, "tree": tree, "subject": subject, "text": text, "functions": [{"path": path}]}


def write_history(folder: Path) -> argparse.Namespace:
    """Write a repository with two files, and two messages about one of them."""
    repo = Repo.init(folder / "clones" / "owner+name" / "repo")
    repo.commit({"ring.py": _RING, "pool.py": _POOL}, "Begin")
    queries = [
        mined_query(repo, "Fix close of connections", "Fix close of connections", "pool.py"),
        mined_query(repo, "Rotate all keys", "Rotate all keys\n\nThe ring kept its first key.", "ring.py"),
    ]
    mined = folder / "mined"
    mined.mkdir()
    (mined / "owner+name.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    return argparse.Namespace(
        mined=mined, repositories=folder / "clones", only=[], commits=9, results=folder / "ranks.json", work=folder
    )


def test_a_message_with_a_paragraph_is_asked_whole_and_by_its_subject(tmp_path: Path) -> None:
    options = write_history(tmp_path)
    queries = read_messages(options.mined / "owner+name.jsonl", 9)
    assert [(query.kind, query.text.partition("\n")[0]) for query in queries] == [
        (LINE, "Fix close of connections"),
        (TEXT, "Rotate all keys"),
        (SUBJECT, "Rotate all keys"),
    ]
    assert len(read_messages(options.mined / "owner+name.jsonl", 1)) == 1


def test_the_reciprocal_rank_is_that_of_the_changed_file(tmp_path: Path) -> None:
    options = write_history(tmp_path)
    figures = {(figure.subject, figure.name): figure.value for figure in measure(options)}
    assert figures["2 messages", "reciprocal rank, hybrid"] == 1.0
    assert figures["2 messages", "reciprocal rank, lexical"] == 1.0
    assert figures["2 subjects of all", "hybrid less lexical [+0.0000, +0.0000]"] == 0.0
    ranks = json.loads(options.results.read_text())
    assert [(one["kind"], one["hybrid"], one["lexical"]) for one in ranks] == [
        (LINE, 1.0, 1.0),
        (TEXT, 1.0, 1.0),
        (SUBJECT, 1.0, 1.0),
    ]


def test_a_file_that_is_behind_another_or_absent_counts_less(tmp_path: Path) -> None:
    options = write_history(tmp_path)
    mined = options.mined / "owner+name.jsonl"
    swapped = [json.loads(line) for line in mined.read_text().splitlines()]
    swapped[0]["functions"][0]["path"] = "ring.py"
    swapped[1]["functions"][0]["path"] = "gone.py"
    mined.write_text("".join(json.dumps(query) + "\n" for query in swapped))
    measure(options)
    ranks = {one["kind"]: (one["hybrid"], one["lexical"]) for one in json.loads(options.results.read_text())}
    assert ranks[LINE][0] == 0.5
    assert ranks[TEXT] == ranks[SUBJECT] == (0.0, 0.0)
