"""File of figures; each run has its commit and the load of the machine."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tests.bench.figures import Figure

PROJECT: Final = Path(__file__).resolve().parents[2]
MEASURED: Final = ("gitmem", "models", "pyproject.toml")


def append_run(file: Path, benchmark: str, figures: Sequence[Figure]) -> None:
    """Append a run to the file's list of runs; create a missing file."""
    runs = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    runs.append({"benchmark": benchmark, **describe_run(), "figures": [trim(figure) for figure in figures]})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


def describe_run() -> dict[str, Any]:
    """Return the conditions of a run, which a comparison with another run needs."""
    return {
        "commit": _git("rev-parse", "--short=12", "HEAD"),
        "modified": bool(_git("status", "--porcelain", "--", *MEASURED)),
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


def trim(figure: Figure) -> dict[str, Any]:
    """Return the fields of a figure that are set."""
    values = {name: value for name, value in asdict(figure).items() if value not in (None, "")}
    return {**values, "value": None if figure.value is None else float(f"{figure.value:.4g}")}


def _git(*args: str) -> str:
    process = subprocess.run(["git", "-C", str(PROJECT), *args], capture_output=True, text=True)
    return process.stdout.strip() if process.returncode == 0 else ""
