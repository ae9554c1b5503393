"""Import of numpy's core alone, each time in a process of its own."""

import subprocess
import sys

import pytest

from gitmem.numpy_core import import_core_only
from tests.gitrepo import unmeasured_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere numpy is imported as a whole")

START = """
import sys
from gitmem.numpy_core import import_core_only
import_core_only()
import numpy as np
assert "numpy.lib" not in sys.modules, "the rest is not loaded yet"
"""


def run(program: str) -> str:
    """Return what a program prints that begins with numpy's core."""
    command = [sys.executable, "-c", START + program]
    return subprocess.run(command, env=unmeasured_environment(), capture_output=True, text=True, check=True).stdout


def test_the_core_computes_without_the_rest() -> None:
    program = """
values = np.arange(9, dtype=np.int64)
print(values.sum(), np.flatnonzero(values > 6).tolist(), np.bincount(values[:2]).tolist(), np.packbits(values > 6))
print("numpy.lib" in sys.modules, "numpy._core._add_newdocs" in sys.modules)
"""
    assert run(program) == "36 [7, 8] [1, 1] [  1 128]\nFalse False\n"


@pytest.mark.parametrize(
    "use",
    [
        "print(np.diff([1, 3]))",
        "print([int(np.matrix([[2]])[0, 0])])",
        "from numpy.testing import assert_equal; print(np.diff([1, 3]))",
        "import numpy.ma; print(np.ma.masked_array([2]))",
        "from numpy.lib import stride_tricks; print(np.diff([1, 3]))",
        "from numpy import linalg; print(np.array([int(linalg.norm([2]))]))",
        "from numpy import *; print(diff([1, 3]))",
        "print(np.random.default_rng(0).integers(2, 3, 1))",
    ],
)
def test_any_other_use_loads_the_rest(use: str) -> None:
    assert run(use) == "[2]\n"


def test_an_array_that_is_a_matrix_is_still_recognised() -> None:
    assert run("one = np.array([[1, 2]]); print(np.ravel(one)); print(np.ravel(np.matrix(one)).shape)") == (
        "[1 2]\n(2,)\n"
    )


def test_threads_that_need_the_rest_wait_for_it() -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as threads:
    print({tuple(found.tolist()) for found in threads.map(lambda n: np.unique([n % 1, 5]), range(64))})
"""
    assert run(program) == "{(0, 5)}\n"


def test_threads_that_import_parts_of_the_rest_at_once_all_end() -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
parts = ["numpy.linalg", "numpy.lib.stride_tricks", "numpy.ma", "numpy.fft", "numpy.matrixlib", "numpy.random"]
with ThreadPoolExecutor(8) as threads:
    found = threads.map(lambda n: (import_module(parts[n % 6]), np.unique([n % 1, 5]))[1].tolist(), range(48))
    print({tuple(each) for each in found})
"""
    assert run(program) == "{(0, 5)}\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    program = """
for name in ("nothing", "nothing"):
    try:
        getattr(np, name)
    except AttributeError as problem:
        print(problem)
"""
    assert run(program) == "module 'numpy' has no attribute 'nothing'\n" * 2


def test_arrays_are_pickled_as_ever() -> None:
    assert run("import pickle; print(pickle.loads(pickle.dumps(np.array([2]))))") == "[2]\n"


def test_nothing_happens_once_numpy_is_loaded() -> None:
    finders = list(sys.meta_path)
    import_core_only()
    assert sys.meta_path == finders
