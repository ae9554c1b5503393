"""Settings of the user outside any repository, for a process that stays."""

from collections.abc import Mapping
from pathlib import Path

from gitmem.git.git_config import configuration_files
from gitmem.resident.watching.state_signature import FileSignature, file_signature
from gitmem.settings import Settings
from gitmem.workspace import read_user_settings


class UserSettings:
    """The user's settings, read again if a file that decides them has changed. May be used from any thread."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._files: list[Path] = []
        self._state: tuple[list[FileSignature | None], Settings] | None = None
        """Signatures of the files from before the reading, and what was read."""

    def read(self) -> Settings:
        """Return the present settings. Raises: ConfigError."""
        # Looking at a few files takes microseconds. Asking git takes milliseconds, like all the rest of a warm search.
        state = self._state
        signatures = self._signatures()
        if state is not None and state[0] == signatures:
            return state[1]
        self._files = configuration_files(None, self._environment)
        signatures = self._signatures()
        settings = read_user_settings(self._environment)
        self._state = (signatures, settings)
        return settings

    def _signatures(self) -> list[FileSignature | None]:
        return [file_signature(str(file)) for file in self._files]
