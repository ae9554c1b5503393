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
from gitmem.errors import ERROR_CODES, INTERNAL_ERROR, GitmemError, error_code
from gitmem.secrets.masking import mask_text

_STATUSES: Final = {
    "unknown_record": 404,
    "unknown_revision": 404,
    "invalid_argument": 400,
    **dict.fromkeys(("not_a_repository", "invalid_configuration", "no_index", "busy", "cancelled"), 409),
    **dict.fromkeys(("newer_format", "unsafe_index"), 409),
}
"""Status of a code; 500 for all others."""

CODES: Final = (
    *ERROR_CODES,
    *("invalid_host", "invalid_origin", "invalid_token"),
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
        code = error_code(error)
        return Problem(_STATUSES.get(code, 500), code, _clean(error.message), hint=_clean(error.hint))
    reference = secrets.token_hex(4)
    _log.error("request %s failed", reference, exc_info=error)
    return Problem(500, INTERNAL_ERROR, "the request failed", hint="gitmem doctor", details={"log": reference})


def problem_response(problem: Problem) -> JSONResponse:
    """Return the response to a request that failed."""
    error = {"code": problem.code, "message": problem.message, "details": problem.details}
    return JSONResponse({"error": error}, problem.status)


def _clean(text: str) -> str:
    return "\n".join(map(visible, mask_text(text).splitlines()))[:_MAX_MESSAGE]
