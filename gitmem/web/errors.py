"""Errors of the HTTP API: every one has the form `{"error": {"code", "message", "details"}}`.

A message may quote a file or a record, so secrets in it are masked. Unexpected errors are logged; the client gets their
id in the log, and neither a stack trace nor the text of the exception.
"""

import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import JSONResponse

from gitmem.display import visible
from gitmem.errors import (
    Busy,
    Cancelled,
    ConfigError,
    DamagedFile,
    GitFailed,
    GitmemError,
    ModelDamaged,
    NewerFormat,
    NoIndex,
    NotARepository,
    StorageFailed,
    UnknownRecord,
    UnknownRevision,
    UnsafeIndex,
    UsageError,
    WorkersFailed,
)
from gitmem.secrets.masking import mask_text

# The first class that an error is an instance of decides, so special classes come before general ones.
_CODES: Final[tuple[tuple[type[GitmemError], int, str], ...]] = (
    (UnknownRecord, 404, "unknown_record"),
    (UnknownRevision, 404, "unknown_revision"),
    (NotARepository, 409, "not_a_repository"),
    (ConfigError, 409, "invalid_configuration"),
    (UsageError, 400, "invalid_argument"),
    (NoIndex, 409, "no_index"),
    (Busy, 409, "busy"),
    (Cancelled, 409, "cancelled"),
    (DamagedFile, 500, "damaged_file"),
    (NewerFormat, 409, "newer_format"),
    (UnsafeIndex, 409, "unsafe_index"),
    (GitFailed, 500, "git_failed"),
    (StorageFailed, 500, "storage_failed"),
    (WorkersFailed, 500, "workers_failed"),
    (ModelDamaged, 500, "model_damaged"),
)
CODES: Final = (
    *(code for _, _, code in _CODES),
    *("failed", "internal_error", "invalid_host", "invalid_origin", "invalid_token"),
    *("not_found", "method_not_allowed", "too_large", "unknown_repository"),
)
"""All values of `code`."""

_MAX_MESSAGE: Final = 2000
_log = logging.getLogger(__name__)


class Problem(Exception):
    """Error of a request, with its status and code."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = {**(details or {}), **({"hint": hint} if hint else {})}


def unknown_repository(name: str) -> Problem:
    """Return the error for a repository that is not registered."""
    return Problem(404, "unknown_repository", f"unknown repository `{visible(name)}`", hint="gitmem repos list")


def describe_error(error: Exception) -> Problem:
    """Return any error as a problem. One that is not gitmem's own is logged."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, GitmemError):
        status, code = next(
            ((status, code) for kind, status, code in _CODES if isinstance(error, kind)), (500, "failed")
        )
        return Problem(status, code, _clean(error.message), hint=_clean(error.hint))
    reference = secrets.token_hex(4)
    _log.error("request %s failed", reference, exc_info=error)
    return Problem(500, "internal_error", "the request failed", hint="gitmem doctor", details={"log": reference})


def problem_response(problem: Problem) -> JSONResponse:
    """Return the response to a request that failed."""
    error = {"code": problem.code, "message": problem.message, "details": problem.details}
    return JSONResponse({"error": error}, problem.status)


def _clean(text: str) -> str:
    return "\n".join(map(visible, mask_text(text).splitlines()))[:_MAX_MESSAGE]
