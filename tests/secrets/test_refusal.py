"""Refusing and redacting keys and tokens, without false alarms on plain text."""

import pytest

from gitmem.errors import UsageError
from gitmem.secrets.refusal import redact_secrets, refuse_secrets
from tests.secrets.samples import SAMPLES

TOKEN = SAMPLES["github, classic"]
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----"
PLAIN = [
    "Sessions live in signed cookies, see src/flask/sessions.py and SecureCookieSessionInterface.",
    "SECRET_KEY = 'dev'",
    'password = "correct-horse-battery-staple"',
    'api_key=os.environ["OPENAI_API_KEY"]',
    "secret=config.get_secret_value_from_store()",
    "commit 1f2e3d4c5b6a79880912a3b4c5d6e7f8091a2b3c fixes it",
    "https://example.com/path/to/a/long/page?query=value",
]


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_secret_is_refused_with_its_line(kind: str) -> None:
    with pytest.raises(UsageError, match=r"seems to contain a secret \([\w-]+, line 2\)"):
        refuse_secrets(f"first line\n{SAMPLES[kind]}\nthird", "note")


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if not kind.startswith(".env, ")])
@pytest.mark.parametrize("before", [1900, 3950, 30_000])
def test_a_secret_is_refused_anywhere_in_a_long_line(kind: str, before: int) -> None:
    filler = "words and words " * 4000
    text = (
        f"{filler[:before]}\n{SAMPLES[kind]} {filler}"
        if "AWS" in SAMPLES[kind]
        else f"{filler[:before]} {SAMPLES[kind]} {filler}"
    )
    if "TELEGRAM" not in text:
        with pytest.raises(UsageError):
            refuse_secrets(text, "note")


def test_the_first_line_of_a_private_key_is_refused() -> None:
    with pytest.raises(UsageError, match="private-key, line 2"):
        refuse_secrets(f"x\n{PEM}\n", "note")


@pytest.mark.parametrize("text", PLAIN, ids=range(len(PLAIN)))
def test_plain_text_is_not_refused(text: str) -> None:
    refuse_secrets(text, "note", {"title": text})


def test_the_fields_of_a_record_are_checked_with_their_names() -> None:
    with pytest.raises(UsageError, match="in its fields"):
        refuse_secrets("text", "document", {"metadata": {"api_key": SAMPLES["npm"]}})


def test_the_refusal_names_kind_and_line_but_not_the_secret() -> None:
    with pytest.raises(UsageError) as caught:
        refuse_secrets(f"x\n{TOKEN}", "note")
    assert caught.value.message == "the note seems to contain a secret (github-pat, line 2); it was not stored"
    assert TOKEN not in caught.value.message + caught.value.hint


def test_lines_with_secrets_are_redacted_and_the_others_stay() -> None:
    key = f"{PEM}\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n"
    assert redact_secrets(f"a\r\n{TOKEN}\r\nb\n{key}c") == (
        "a\r\n[secret left out]\r\nb\n[secret left out]\n[secret left out]\n[secret left out]\nc"
    )
    assert redact_secrets("\n".join(PLAIN)) == "\n".join(PLAIN)
