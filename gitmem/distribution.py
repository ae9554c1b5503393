"""Find distributions of other projects that share an environment with gitmem and write into its package.

On PyPI the name `gitmem` belongs to another project with the same import name. pip lets both install into one folder:
the later one replaces files of the earlier one, and uninstalling either removes files of both. gitmem itself is
distributed as `gitmem-cli`. This module imports nothing of gitmem, so that it works on a damaged installation too.
"""

import re
from importlib.metadata import Distribution, distributions
from typing import Final

DISTRIBUTION: Final = "gitmem-cli"
"""Name under which gitmem is published. The command and the package are called `gitmem`."""

_PACKAGE: Final = "gitmem"
_ENTRY_POINT: Final = "gitmem.cli.main:main"


def find_conflicts() -> list[str]:
    """Return the names of other distributions that own modules of the package `gitmem` or its command."""
    names = {re.sub(r"[-_.]+", "-", each.name).lower() for each in distributions() if _is_conflicting(each)}
    return sorted(names - {DISTRIBUTION})


def conflict_remedy(names: list[str]) -> str:
    """Return the commands that remove other distributions and restore the files they replaced or took with them."""
    restore = f"pip install --force-reinstall --no-deps {DISTRIBUTION}"
    return f"pip uninstall {' '.join(names)} && {restore}" if names else restore


def _is_conflicting(distribution: Distribution) -> bool:
    # An editable installation owns no modules, and one of this project under any name starts the same function.
    scripts = distribution.entry_points.select(group="console_scripts", name=_PACKAGE)
    if any(script.value != _ENTRY_POINT for script in scripts):
        return True
    return any(path.parts[0] == _PACKAGE and path.suffix == ".py" for path in distribution.files or ())
