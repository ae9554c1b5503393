"""Import the core of numpy alone: the other half of `import numpy` is code that a query never calls.

`import_core_only` puts a finder in front of those of Python. When numpy is imported then, the module gets the names of
`numpy._core`. The first other name, or the import of another part of numpy, runs the rest of numpy's own start. So
every use of numpy works as ever; it only may cost what it always did. The core's docstrings are never loaded.
"""

import sys
from _thread import RLock
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_loader
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMPY: Final = "numpy"
_DOCSTRINGS: Final = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
"""Modules that only add docstrings to compiled functions. They are a fifth of the import of numpy."""

_OWN_OF_ALL: Final = ("__all__", "__version__")
"""Names of the start that look like those of the import system, which asks whether a module has them."""


def import_core_only() -> None:
    """Let the next `import numpy` of this process load the core alone.

    Only on Linux: on Windows numpy's start first makes its libraries loadable, on macOS it checks the system's BLAS.
    """
    if sys.platform == "linux" and _NUMPY not in sys.modules:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finder of the package numpy, and witness of imports of its parts."""

    def __init__(self) -> None:
        self._module: _NumpyCore | None = None

    def find_spec(self, name: str, path: "Sequence[str] | None", _: ModuleType | None = None) -> ModuleSpec | None:
        """Return how to load numpy; finish its start if a part beyond the core is about to be imported."""
        package, _dot, part = name.partition(".")
        if package != _NUMPY:
            return None
        if not part:
            return self._find_numpy(path)
        if self._module is not None:
            # Not awaited if another thread runs it: that thread may need the part which this one is importing.
            self._module.need_all(wait=False)
        return None

    def _find_numpy(self, path: "Sequence[str] | None") -> ModuleSpec | None:
        own = PathFinder.find_spec(_NUMPY, path)
        if own is None or not isinstance(own.loader, SourceFileLoader):
            return None
        self._module = _NumpyCore(own.loader, self)
        loader: Any = _Loader(self._module, own.loader)
        return spec_from_loader(_NUMPY, loader, origin=own.origin, is_package=True)


class _Loader:
    """Loader of a package whose start is not run to its end."""

    def __init__(self, module: "_NumpyCore", own: SourceFileLoader) -> None:
        self._module = module
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, which finds its core under the path of the package."""
        spec.submodule_search_locations = [self._own.path.rpartition("/")[0]]
        self._module.__file__ = self._own.path
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Load the core; if it cannot be loaded alone, run the whole start."""
        assert module is self._module
        self._module.load_core()


class _NumpyCore(ModuleType):
    """The package numpy with the names of its core, until another one is asked for."""

    def __init__(self, own: SourceFileLoader, finder: _Finder) -> None:
        super().__init__(_NUMPY)
        self.__dict__["_start"] = _Start(own, finder)

    def load_core(self) -> None:
        """Import the core without its docstrings. A numpy that is built otherwise starts as a whole."""
        absent = [name for name in _DOCSTRINGS if name not in sys.modules]
        sys.modules.update((name, ModuleType(name)) for name in absent)
        try:
            globals_ = import_module("numpy._globals")
            self.__dict__.update(_CopyMode=globals_._CopyMode, _NoValue=globals_._NoValue)
            core = import_module("numpy._core")
            for part in (core.multiarray, core):
                self.__dict__.update((name, getattr(part, name)) for name in part.__all__)
            self.__dict__["_start"].state = _CORE
        except (ImportError, AttributeError):
            self.__dict__["_start"].state = _CORE
            self.need_all()
        finally:
            for name in absent:
                del sys.modules[name]

    def need_all(self, *, wait: bool = True) -> None:
        """Run the rest of numpy's start if only the core is loaded; `wait` for another thread that runs it."""
        start: _Start = self.__dict__["_start"]
        if not start.lock.acquire(blocking=wait):
            return
        try:
            if start.state == _CORE:
                start.state = _ALL
                sys.meta_path.remove(start.finder)
                start.own.exec_module(self)
        finally:
            start.lock.release()

    def __getattr__(self, name: str) -> Any:
        start: _Start = self.__dict__["_start"]
        if name == "matrix" and start.state == _CORE and _is_core(sys._getframe(1)):
            return _NoMatrix
        if not name.startswith("__") or name in _OWN_OF_ALL:
            self.need_all()
        # This thread or another one has run the start, whose own `__getattr__` is asked here too.
        return super().__getattribute__(name)


def _is_core(frame: FrameType) -> bool:
    """Return whether code of numpy's core runs in a frame."""
    return str(frame.f_globals.get("__name__")).startswith("numpy._core.")


class _NoMatrix:
    """What the core compares arrays with that may be of `np.matrix`: there are none before that class is loaded."""


_LOADING: Final = "loading"
_CORE: Final = "core"
_ALL: Final = "all"


class _Start:
    """How far numpy has started. Threads that need more wait for the one that runs it."""

    def __init__(self, own: SourceFileLoader, finder: _Finder) -> None:
        self.own = own
        self.finder = finder
        self.lock = RLock()
        self.state = _LOADING
