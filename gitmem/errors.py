"""Every error a person can meet. A class carries its exit code; a message says what happened to which thing,
the hint what to do about it.

    GitmemError                 5  something failed
    ├── UsageError              2  an argument or a setting is wrong
    │   ├── ConfigError         2  a configuration value is out of range or unknown
    │   ├── NotARepository      2  no git repository there, or git refuses to enter it
    │   ├── UnknownRecord       2  an id that no note, document or conversation has
    │   └── UnknownRevision     2  a name that git cannot resolve
    ├── TooLittleHistory        1  too few commits say what they change
    ├── NoIndex                 3  the repository has no index yet
    ├── Busy                    4  another process is writing the index
    ├── Cancelled               5  another process asked this run to end
    ├── GitFailed               5  the git program reported an error
    ├── UnsafeIndex             5  `.gitmem` is tracked, a symbolic link, or somebody else's
    ├── DamagedFile             5  a file of the index fails its checksum
    ├── NewerFormat             5  the index was written by a newer gitmem
    ├── StorageFailed           5  a file could not be written (disk full, permission, read-only)
    └── ModelDamaged            5  the bundled model is not the one it should be

Exit codes besides these: 0 done or hits found, 1 no hits, 130 interrupted.
"""


class GitmemError(Exception):
    """Something failed; `hint` says what to do about it, where something can be done."""

    exit_code = 5

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GitmemError):
    """An argument or a setting is wrong."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration value is out of range or unknown."""


class NotARepository(UsageError):
    """No git repository there, or git refuses to enter it."""


class UnknownRecord(UsageError):
    """An id that no note, document or conversation has."""


class UnknownRevision(UsageError):
    """A name that git cannot resolve to a commit or a tree."""


class TooLittleHistory(GitmemError):
    """Too few commits say what they change for anything to be judged by them."""

    exit_code = 1


class NoIndex(GitmemError):
    """The repository has no index yet."""

    exit_code = 3


class Busy(GitmemError):
    """Another process is writing the index."""

    exit_code = 4


class Cancelled(GitmemError):
    """Another process asked this run to end; what it has done is kept."""


class GitFailed(GitmemError):
    """The git program reported an error."""


class UnsafeIndex(GitmemError):
    """The index folder is tracked by git, a symbolic link, or belongs to another user."""


class DamagedFile(GitmemError):
    """A file of the index fails its checksum, is cut short or is not what its name says."""


class NewerFormat(GitmemError):
    """The index was written by a newer gitmem."""


class StorageFailed(GitmemError):
    """A file could not be written: disk full, no permission, read-only."""


class ModelDamaged(GitmemError):
    """The bundled model is not the one its card names."""


class ObserverFailed(GitmemError):
    """The operating system gives no word of changes in a folder."""
