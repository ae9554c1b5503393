"""The bundled encoder, opened once, and copies of its files to tamper with."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.embedding.bundled import BundledEncoder
from gitmem.paths import bundled


@pytest.fixture(scope="session")
def encoder() -> BundledEncoder:
    """The model as it ships."""
    return BundledEncoder()


@pytest.fixture
def tampered(tmp_path: Path) -> Callable[[str, int], Path]:
    """A copy of the model with one byte of one file changed."""

    def tamper(name: str, place: int) -> Path:
        folder = tmp_path / "models"
        shutil.copytree(bundled("models"), folder)
        data = bytearray((folder / name).read_bytes())
        data[place] ^= 1
        (folder / name).write_bytes(data)
        return folder

    return tamper


@pytest.fixture(scope="session")
def library() -> Any:
    """The tokenizers library with the model's vocabulary."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(bundled("models") / "tokenizer.json"))
