"""Programs on the PATH of a test: git, and whatever else the test puts there."""

import shutil
from pathlib import Path

import pytest


def use_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set PATH to a new folder with git alone, and return the folder."""
    git = shutil.which("git")
    assert git is not None
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def write_program(file: Path, text: str) -> None:
    """Write an executable shell script."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
