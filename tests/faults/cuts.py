"""Power cuts of a real ext4: what has come to the device by some call of a run, mounted again with its journal.

The file system lies in a file. Before a call that changes something that file is copied, twice, until both copies are
equal: nothing else was on its way then, and one of them is what the machine would find after the cut.
"""

import filecmp
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem import fsio
from tests.faults.elsewhere import CONTROL, LONG, SHORT, mounted, namespace, run_elsewhere, tell
from tests.faults.kill import World, look_after, open_world
from tests.faults.power import watched
from tests.faults.report import Tally
from tests.faults.worlds import SCENARIOS, Scenario, chosen
from tests.gitrepo import Repo

_IMAGE_BYTES: Final = 24 << 20
_CALLS: Final = ("create", "write", "sync", "rename", "link", "unlink", "make_folder")


class Camera(fsio.Disk):
    """Keeps the image as it stands before every so many calls, and after the last."""

    def __init__(self, image: Path, every: int) -> None:
        self._image, self._every = image, every
        self.calls = 0
        self.shots: list[tuple[int, Path]] = []

    def __getattribute__(self, name: str) -> object:
        if name in _CALLS:
            self.calls += 1
            if self.calls % self._every == 0:
                self.shoot()
        return object.__getattribute__(self, name)

    def shoot(self) -> None:
        """Copy the image as it is at one moment."""
        first, second = (self._image.with_name(f"shot{self.calls}.{number}") for number in "12")
        shutil.copyfile(self._image, first)
        while True:
            shutil.copyfile(self._image, second)
            if filecmp.cmp(first, second, shallow=False):
                break
            first, second = second, first
        second.unlink()
        self.shots.append((self.calls, first))


class Hasty(Camera):
    """Syncs nothing: the control."""

    def sync(self, handle: int) -> None:
        return


def is_available() -> bool:
    """Whether such a file system can be made and mounted here."""
    if shutil.which("mkfs.ext4") is None or not namespace():
        return False
    with tempfile.TemporaryDirectory() as place:
        image = _make_image(Path(place))
        trial = [*namespace(), "mount", "-o", "loop", str(image), place]
        return subprocess.run(trial, capture_output=True).returncode == 0


def run(*, long: bool, only: str = "") -> Tally:
    """Cuts before every call, or before some."""
    return run_elsewhere(__name__, "power cuts of ext4", LONG if long else SHORT, only)


def run_control() -> Tally:
    """Under a writer that syncs nothing."""
    return run_elsewhere(__name__, "power cuts of ext4 under a hasty writer", CONTROL)


def _try_all(form: str, only: str, tally: Tally) -> None:
    numbers = {LONG: [0, 1, 3, 4, 6], SHORT: [1], CONTROL: [1]}[form]
    for scenario in chosen((SCENARIOS[number] for number in numbers), only):
        with tempfile.TemporaryDirectory() as place:
            _try_scenario(scenario, Path(place), form, tally)
        tally.show_progress(f"{scenario.name} is done")


def _try_scenario(scenario: Scenario, place: Path, form: str, tally: Tally) -> None:
    world = open_world(scenario, place)
    image = _make_image(place)
    camera = (Hasty if form == CONTROL else Camera)(image, 1 if form == LONG else 12)
    with loop_mounted(image, place / "disk"):
        own = Repo(place / "disk" / "own")
        shutil.copytree(world.repo.path, own.path, symlinks=True)
        subprocess.run(["sync", "--file-system", str(own.path)], check=True)
        with watched(camera):
            scenario.act(own)
        camera.calls += 1
        camera.shoot()
    for calls, shot in camera.shots:
        _look_at_shot(world, shot, place, calls, tally, done=calls == camera.calls)
        shot.unlink()


def _look_at_shot(world: World, shot: Path, place: Path, calls: int, tally: Tally, *, done: bool) -> None:
    """Mount what the cut left, with its journal, and look at the index."""
    with loop_mounted(shot, place / "after"):
        own = Repo(place / "after" / "own")
        more = [own.oid("HEAD^{tree}")] if done and world.scenario.acknowledges else []
        told = look_after(world._replace(acknowledged=(*world.acknowledged, *more)), own)
        tally.note(f"{world.scenario.name}, at call {calls}", told)


def _make_image(place: Path) -> Path:
    image = place / "image"
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-b", "4096", str(image)], check=True, capture_output=True)
    return image


@contextmanager
def loop_mounted(image: Path, place: Path) -> Iterator[None]:
    """An image, mounted for a while. Its journal is not written by the clock: only a sync makes anything durable."""
    place.mkdir(exist_ok=True)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True)
    device = made.stdout.strip()
    try:
        with mounted("ext4", place, "commit=3600", device):
            yield
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


if __name__ == "__main__":
    tell(_try_all)
