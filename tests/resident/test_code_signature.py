"""A change of the code on disk is noticed, whichever file it is in."""

import os
from pathlib import Path

from gitmem.resident.code_signature import read_code_signature


def test_any_change_of_a_source_file_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "package" / "__pycache__").mkdir(parents=True)
    file = tmp_path / "package" / "module.py"
    file.write_text("x = 1\n")
    before = read_code_signature(tmp_path)
    (tmp_path / "package" / "__pycache__" / "module.pyc").write_text("compiled")
    (tmp_path / "package" / "notes.txt").write_text("notes")
    assert read_code_signature(tmp_path) == before
    os.utime(file, ns=(1, 1))
    touched = read_code_signature(tmp_path)
    assert touched != before
    (tmp_path / "new.py").write_text("")
    assert read_code_signature(tmp_path) != touched


def test_the_code_of_gitmem_is_read_by_default() -> None:
    files = {Path(path).name for path, _, _ in read_code_signature()}
    assert {"client.py", "searcher.py", "__init__.py"} <= files
