"""Finding, refusing and redacting keys and tokens, without false alarms on plain text."""

import subprocess
import sys

import pytest

from gitmem.errors import UsageError
from gitmem.memory.secrets import find_secrets, redact_secrets, refuse_secrets

JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
SECRETS = [
    "AKIA" + "QYLPMN5HHHFPZAM2",
    "ghp_" + "a1B2" * 9,
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "sk-proj-abcdEFGH1234abcdEFGH" + "T3BlbkFJ" + "abcdEFGH1234abcdEFGH",
    "ANTHROPIC_API_KEY=sk-ant-api03-" + "dkR7_fj38dKslE93jdkLLs83jdk-ddk39AA",
    'SECRET_KEY = "192b9bdd22ab9ed4d12e236c' + '78afcb9a393ec15f71bbf5dc987d54727823bcbf"',
    "postgres://user:" + "pass1234@host/db",
    "xoxb-" + "123456789012-123456789012-abcdefghijklmnopqrstuvwx",
    "glpat-" + "abcdefghij1234567890",
    "pypi-AgEIcHlwaS5vcmc" + "a" * 80,
    "SG." + "a" * 22 + "." + "b" * 43,
    "sk_live_" + "a1" * 12,
    JWT,
]
PLAIN = [
    "Sessions live in signed cookies, see src/flask/sessions.py and SecureCookieSessionInterface.",
    "SECRET_KEY = 'dev'",
    'password = "correct-horse-battery-staple"',
    'api_key=os.environ["OPENAI_API_KEY"]',
    "secret=config.get_secret_value_from_store()",
    "commit 1f2e3d4c5b6a79880912a3b4c5d6e7f8091a2b3c fixes it",
    "https://example.com/path/to/a/long/page?query=value",
]


@pytest.mark.parametrize("text", SECRETS, ids=range(len(SECRETS)))
def test_secrets_are_found_with_their_line(text: str) -> None:
    findings = list(find_secrets(f"first line\nsecond: {text}\nthird"))
    assert findings
    assert {finding.line for finding in findings} == {2}


@pytest.mark.parametrize("number", [number for number, text in enumerate(SECRETS) if "API_KEY" not in text])
@pytest.mark.parametrize("before", [1000, 1900, 2000, 3950, 4000, 7999, 30_000])
def test_secrets_are_found_anywhere_in_a_long_line(number: int, before: int) -> None:
    filler = "words and words " * 4000
    assert {finding.line for finding in find_secrets(f"{filler[:before]} {SECRETS[number]} {filler}")} == {1}


@pytest.mark.parametrize("text", PLAIN, ids=range(len(PLAIN)))
def test_plain_text_has_no_secret(text: str) -> None:
    assert list(find_secrets(text)) == []


def test_the_refusal_names_kind_and_line_but_not_the_secret() -> None:
    with pytest.raises(UsageError) as caught:
        refuse_secrets(f"x\n{SECRETS[1]}", "note")
    assert caught.value.message == "the note seems to contain a secret (GitHub Token, line 2); it was not stored"
    assert SECRETS[1] not in caught.value.message + caught.value.hint


def test_plain_sentences_do_not_load_the_rules() -> None:
    probe = (
        "import sys; from gitmem.memory.secrets import find_secrets; "
        "list(find_secrets('We keep sessions in cookies.')); print('detect_secrets' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_lines_with_secrets_are_redacted_and_the_others_stay() -> None:
    key = f"{SECRETS[2]}\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n"
    assert redact_secrets(f"a\r\n{SECRETS[1]}\r\nb\n{key}c") == (
        "a\r\n[secret left out]\r\nb\n[secret left out]\n[secret left out]\n[secret left out]\nc"
    )
    assert redact_secrets("\n".join(PLAIN)) == "\n".join(PLAIN)
