"""Measured command lines: gitmem's, and its rival's if the options name its installation."""

import argparse
import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.processes import Command, run_measured


@dataclass(frozen=True, slots=True)
class Gitmem:
    """Command lines of the gitmem program."""

    words: tuple[str, ...]

    def index(self, repository: Path, *flags: str) -> Command:
        """Return the command that refreshes the index of a repository."""
        return Command([*self.words, "index", *flags], cwd=repository)

    def query(self, repository: Path, text: str, *flags: str) -> Command:
        """Return the command of a query; a run without results is valid."""
        return Command([*self.words, "query", *flags, text], cwd=repository, expect=(0, 1))

    def index_report(self, repository: Path, *flags: str) -> tuple[dict[str, Any], float]:
        """Index and return the program's report and the CPU seconds."""
        output, cpu = run_measured(self.index(repository, "--json", *flags))
        report: dict[str, Any] = json.loads(output)
        return report, cpu


@dataclass(frozen=True, slots=True)
class Rival:
    """Command lines of semble, offline; the first search of a tree builds the index, later ones load it."""

    program: str
    model: str
    content: tuple[str, ...]

    def search(self, tree: Path, text: str, cache: Path) -> Command:
        """Return the command that searches a tree; the index is stored in `cache`."""
        env = {"SEMBLE_MODEL_NAME": self.model, "SEMBLE_CACHE_LOCATION": str(cache), "HF_HUB_OFFLINE": "1"}
        args = [self.program, "search", text, str(tree), "--top-k", "10", "--content", *self.content]
        return Command(args, env=env)


def add_program_options(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the measured program."""
    parser.add_argument("--gitmem", metavar="COMMAND", default="", help="default: the one installed for this Python")


def add_rival_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the rival."""
    parser.add_argument("--rival", metavar="PROGRAM", default="", help="semble, measured as well")
    parser.add_argument(
        "--rival-model", metavar="FOLDER", default="", help="model folder, see tests.bench.random_model"
    )
    parser.add_argument(
        "--rival-content", nargs="+", default=["code"], metavar="TYPE", help="what it indexes: code (default) or all"
    )


def load_gitmem(options: argparse.Namespace) -> Gitmem:
    """Return the measured program: the named one, else the script next to this Python, else the module."""
    if options.gitmem:
        return Gitmem(tuple(shlex.split(options.gitmem)))
    script = Path(sys.executable).parent / "gitmem"
    return Gitmem((str(script),) if script.exists() else (sys.executable, "-m", "gitmem"))


def find_rival(options: argparse.Namespace) -> Rival | None:
    """Return the rival, or None if the options name none."""
    if not options.rival:
        return None
    return Rival(options.rival, str(Path(options.rival_model).resolve()), tuple(options.rival_content))
