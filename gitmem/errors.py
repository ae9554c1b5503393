"""Exit codes, and every error that a user can meet. A message names the affected object and the problem.

The number is the exit code of the command. The last column is the hint, or the place that supplies it ("caller").

    GitmemError                 5  caller
    ├── UsageError              2  caller: a valid example, or the command that lists the valid values
    │   ├── ConfigError         2  caller: the `git config` command that repairs the setting
    │   ├── NotARepository      2  caller: the setting that makes git trust the folder
    │   │   └── OutsideRepository  2  caller: `git init`, or `gitmem index PATH`
    │   ├── UnknownRecord       2  caller: the command that lists the existing ids
    │   └── UnknownRevision     2  caller: similar names, or the fetch that brings the revision
    ├── TooLittleHistory        1  caller: how to get more commits
    ├── NoIndex                 3  run `gitmem init`
    │   └── OtherModel          3  run `gitmem index`
    ├── Busy                    4  run it again in a moment
    ├── Cancelled               5  caller: how to continue the run
    ├── GitFailed               5  caller: mostly `git fsck`
    ├── UnsafeIndex             5  caller: the command that removes the folder
    ├── DamagedFile             5  caller: `gitmem verify --repair`, or `git fsck` for records
    │   └── OldFormat           5  run `gitmem index`
    ├── NewerFormat             5  caller: upgrade, or `gitmem index --full`
    ├── StorageFailed           5  caller: by `errno`, see `storage_errors`
    ├── ModelDamaged            5  install gitmem again
    ├── ProviderFailed          5  caller: the setting of the provider, or when to try again
    │   ├── TextsRefused        5  caller
    │   └── ProviderSlow        5  caller
    ├── DatabaseFailed          5  caller: by SQLSTATE, see `org.connection`
    │   └── DatabaseUnavailable 5  caller: try again, see `org.retries`
    ├── WorkersFailed           5  run `gitmem doctor`
    └── ObserverFailed          5  caller: the limits of inotify

`ExitCode` lists the codes without an error: 0, 1 and 130.
"""

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """Exit codes of every command, as documented in `docs/reference.md`."""

    OK = 0
    """The command succeeded; a search has results."""

    NO_RESULTS = 1
    """A search has no results, or an evaluation has too few commits."""

    USAGE = 2
    """An argument or a setting is wrong. The same number as click's own usage errors."""

    NO_INDEX = 3
    """The repository has no index yet."""

    BUSY = 4
    """Another process is writing the index."""

    FAILED = 5
    """The command failed, or succeeded only in part."""

    INTERRUPTED = 130
    """SIGINT ended the command: 128 and the number of the signal, as in a shell."""


# No class for each remedy: callers distinguish errors by what went wrong, and the hint depends on the place.
class GitmemError(Exception):
    """Any failure that the user can act on. `hint` names the remedy and is empty if none is known."""

    exit_code = ExitCode.FAILED
    hint: str = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        """Keep the message. Without `hint`, the hint of the class applies."""
        super().__init__(message)
        self.message = message
        if hint is not None:
            self.hint = hint


class UsageError(GitmemError):
    """Wrong argument or setting."""

    exit_code = ExitCode.USAGE


class ConfigError(UsageError):
    """Configuration value out of range, or unknown configuration key."""


class NotARepository(UsageError):
    """Path outside any git repository, or a repository that git refuses to enter."""


class OutsideRepository(NotARepository):
    """Path outside any git repository and any folder that gitmem knows."""


class UnknownRecord(UsageError):
    """Id that no note, document, conversation or search session has."""


class UnknownRevision(UsageError):
    """Name that git cannot resolve to a commit or a tree."""


class TooLittleHistory(GitmemError):
    """Too few commits with a usable subject to evaluate or fit on."""

    exit_code = ExitCode.NO_RESULTS


class NoIndex(GitmemError):
    """Repository without a usable index."""

    exit_code = ExitCode.NO_INDEX
    hint = "run `gitmem init`"


class OtherModel(NoIndex):
    """Index of a provider that is not the selected one, which only `gitmem index` replaces."""

    hint = "run `gitmem index`"


class Busy(GitmemError):
    """Writer lock held by another process."""

    exit_code = ExitCode.BUSY
    hint = "run it again in a moment"


class Cancelled(GitmemError):
    """Run ended at the request of another process; the work done so far is kept."""


class GitFailed(GitmemError):
    """Error reported by the git program."""


class UnsafeIndex(GitmemError):
    """Index folder that is tracked by git, is a symbolic link, belongs to another user or was not made by gitmem."""


class DamagedFile(GitmemError):
    """File of the index or record of the memory that is truncated, fails its checksum or has other contents than its
    name says."""


class OldFormat(DamagedFile):
    """File in a format older than this version reads. It counts as damaged, so that it is rebuilt."""

    hint = "run `gitmem index`"


class NewerFormat(GitmemError):
    """Index or record written by a newer gitmem."""


class StorageFailed(GitmemError):
    """File that cannot be read or written: disk full, no permission, read-only file system, no locks."""


class ModelDamaged(GitmemError):
    """Bundled model that is missing or differs from the checksums on its card."""

    hint = "install gitmem again"


class ProviderFailed(GitmemError):
    """Provider of embeddings that cannot be loaded or reached, or that gives a wrong answer.

    `is_passing` says whether another request may succeed: after a timeout, but not with a wrong key.
    """

    def __init__(self, message: str, *, hint: str | None = None, is_passing: bool = False) -> None:
        """Keep the message; see GitmemError."""
        super().__init__(message, hint=hint)
        self.is_passing = is_passing


class TextsRefused(ProviderFailed):
    """Provider that refuses these texts, for example because one is too long, and may accept others."""


class ProviderSlow(ProviderFailed):
    """Provider that did not answer to several texts in time, and may answer to fewer of them."""


class DatabaseFailed(GitmemError):
    """Database of an organisation that cannot be reached, refuses a statement or lost the connection."""


class DatabaseUnavailable(DatabaseFailed):
    """Database that may do the same a moment later: it restarts, fails over, or has too many connections."""


class WorkersFailed(GitmemError):
    """Indexing worker processes that cannot start or cannot do any work."""

    hint = "run `gitmem doctor`"


class ObserverFailed(GitmemError):
    """Folder that the operating system cannot watch for changes."""


OTHER_ERROR: Final = "failed"
"""Code of an error of another class."""

INTERNAL_ERROR: Final = "internal_error"
"""Code of an error that is not gitmem's own."""

# The first class that an error is an instance of decides, so special classes come before general ones.
_CODES: Final[tuple[tuple[type[GitmemError], str], ...]] = (
    (UnknownRecord, "unknown_record"),
    (UnknownRevision, "unknown_revision"),
    (NotARepository, "not_a_repository"),
    (ConfigError, "invalid_configuration"),
    (UsageError, "invalid_argument"),
    (NoIndex, "no_index"),
    (Busy, "busy"),
    (Cancelled, "cancelled"),
    (DamagedFile, "damaged_file"),
    (NewerFormat, "newer_format"),
    (UnsafeIndex, "unsafe_index"),
    (GitFailed, "git_failed"),
    (StorageFailed, "storage_failed"),
    (WorkersFailed, "workers_failed"),
    (ModelDamaged, "model_damaged"),
)
ERROR_CODES: Final = (*(code for _, code in _CODES), OTHER_ERROR, INTERNAL_ERROR)


def error_code(error: Exception) -> str:
    """Return the code of an error."""
    if not isinstance(error, GitmemError):
        return INTERNAL_ERROR
    return next((code for kind, code in _CODES if isinstance(error, kind)), OTHER_ERROR)


def is_retryable(error: Exception) -> bool:
    """Return whether the same request may succeed later without any change by its sender."""
    return isinstance(error, Busy) or (isinstance(error, ProviderFailed) and error.is_passing)
