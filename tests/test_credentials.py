"""Keys and tokens of known formats are masked, and all other text stays."""

import base64
import json
import re
import subprocess
import sys
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gitmem.credentials import PRIVATE_KEY_RULE, RULES_WITHOUT_MARKER, load_rules, mask_secrets

TOKENS: Final = {
    "AWSKeyDetector": ["AKIA" + "QYLPMN5HHHFPZAM2", "ASIA" + "QYLPMNVHHHFPZAMB"],
    "AzureStorageKeyDetector": ["AccountKey=" + "aB3+/" * 17 + "aB="],
    "GitHubTokenDetector": ["ghp_" + "a1B2" * 9, "ghs_" + "x9Y8" * 9],
    "GitLabTokenDetector": ["glpat-" + "abcdefghij1234567890", "glrt-" + "t1_abcdefghij1234567"],
    "JwtTokenDetector": [
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ],
    "NpmDetector": ["npm_" + "a1B2" * 9],
    "OpenAIDetector": ["sk-proj-abcdEFGH1234abcdEFGH" + "T3BlbkFJ" + "abcdEFGH1234abcdEFGH"],
    "PypiTokenDetector": ["pypi-AgEIcHlwaS5vcmc" + "a1" * 40],
    "SendGridDetector": ["SG." + "a1" * 11 + "." + "b" * 43],
    "SlackDetector": [
        "xoxb-" + "123456789012-123456789012-abcdefghijklmnopqrstuvwx",
        "hooks.slack.com/services/" + "T0B3CJQMR/B385JAMBF/gUhHoBREI8uja7eKXslTaAj4E",
    ],
    "SquareOAuthDetector": ["sq0csp-" + "a1B2" * 10 + "a1B"],
    "StripeDetector": ["sk_live_" + "a1" * 12],
}  # fmt: skip
BODY: Final = [("MIIEpAIBAAKCAQEA" + "x7Yz+/9Q" * 6), ("b1" * 32), "Zm9v=="]
PLAIN: Final = [
    "commit 1f2e3d4c5b6a79880912a3b4c5d6e7f8091a2b3c fixes it",
    'sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
    "SECRET_KEY = 'dev'; password = 'correct-horse-battery-staple-2'",
    "proxy = 'http://user:pass@localhost:8080/path/to/some/resource/number/12'",
    "STATUS_APC_RETURNED_WHILE_IMPERSONATING = 0x1234; MESSAGE.format_of_the_21st_century()",
    "from aws import some/path/that/is/forty/characters/long12",
    "AKIA, ghp_ and xoxb- are how keys begin; eyJ too",
    "ghp_short_1",
    'if "BEGIN RSA PRIVATE KEY" in text:\n    return load_key_of_sha256_and_more_than_32_characters(text)\n',
]


def surrounded(secret: str) -> str:
    lead = {"npm_": "//registry.npmjs.org/:_authToken=", "hook": "https://"}.get(secret[:4], "")
    return f'key_of_the_service = connect("{lead}{secret}", retries_after_first=3)  # ünder 2 lines\n'


def pem(kind: str, joint: str = "\n", begin: str = "-----") -> str:
    head, foot = f"{begin}BEGIN {kind}{begin}", f"{begin}END {kind}{begin}"
    return joint.join(["before = 1", head, *BODY, foot, "after = 2"])


def test_every_rule_with_a_marker_has_an_example() -> None:
    assert set(load_rules()) == {*TOKENS, *RULES_WITHOUT_MARKER, PRIVATE_KEY_RULE}


@pytest.mark.parametrize("secret", [secret for examples in TOKENS.values() for secret in examples])
def test_a_token_becomes_dots_and_all_other_text_stays(secret: str) -> None:
    data = surrounded(secret).encode()
    masked = mask_secrets(data)
    assert len(masked) == len(data)
    before, after = data.split(secret.encode())
    assert masked.startswith(before.rstrip(b":/"))
    assert masked.endswith(after)
    assert not re.search(rb"[\w+-]", masked[len(before) : -len(after)])


def test_a_secret_key_of_aws_is_recognised_by_the_name_before_it() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKE" + "Y"
    assert mask_secrets(f'aws_secret_key = "{secret}"'.encode()) == b'aws_secret_key = "' + b"." * 40 + b'"'
    assert secret.encode() in mask_secrets(f'checksum = "{secret}"'.encode())


@pytest.mark.parametrize("text", PLAIN, ids=range(len(PLAIN)))
def test_text_that_only_resembles_a_key_stays(text: str) -> None:
    assert mask_secrets(text.encode()) == text.encode()


@pytest.mark.parametrize("joint", ["\n", "\r\n", "\\n", '\\n" +\n    "'], ids=["lines", "crlf", "json", "pieces"])
def test_the_body_of_a_private_key_becomes_dots(joint: str) -> None:
    text = pem("RSA PRIVATE KEY", joint)
    masked = mask_secrets(text.encode()).decode()
    for line in BODY:
        text = text.replace(line, "." * len(line))
    assert masked == text


def test_every_private_key_header_of_the_rules_is_recognised() -> None:
    headers = [pattern.pattern for pattern in load_rules()[PRIVATE_KEY_RULE].denylist]
    assert len(headers) >= 8
    for header in headers:
        text = "\n".join([f"----- {header} -----", *BODY])
        masked = mask_secrets(text.encode()).decode()
        assert not any(line in masked for line in BODY)
        assert header in masked


def test_a_key_without_a_footer_masks_no_code_after_it() -> None:
    text = "-----BEGIN EC PRIVATE KEY-----\n" + BODY[0] + "\n" + "def use(key):\n    return key.sign(b'text')\n" * 50
    assert mask_secrets(text.encode()) == text.encode()


JSON: Final = st.dictionaries(st.text("abc", min_size=1), st.integers() | st.text("xyz"), min_size=1)


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


@given(JSON, JSON, st.binary(min_size=32, max_size=600))
def test_json_web_tokens_are_masked_completely(
    header: dict[str, Any], claims: dict[str, Any], signature: bytes
) -> None:
    parts = [encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", **header}, claims)]
    assume(re.search(r"\d", parts[0]))  # runs without a digit are not searched, see `_long_runs`
    token = ".".join([*parts, encoded(signature)])
    assert mask_secrets(f'"{token}"'.encode()) == b'"' + b"." * len(token) + b'"'


PATTERNS: Final = [
    pytest.param(rule, pattern, id=f"{name}-{number}")
    for name, rule in load_rules().items()
    if name not in RULES_WITHOUT_MARKER | {PRIVATE_KEY_RULE, "JwtTokenDetector", "NpmDetector"}
    for number, pattern in enumerate(rule.denylist)
]


@pytest.mark.parametrize(("rule", "pattern"), PATTERNS)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_all_matches_of_the_rules_have_a_marker(rule: Any, pattern: re.Pattern[str], data: st.DataObject) -> None:
    """The markers are a filter before the rules, which must pass everything that the rules would find."""
    exact = re.compile(pattern.pattern, pattern.flags & ~re.IGNORECASE)
    example = data.draw(st.from_regex(exact, fullmatch=True, alphabet=st.characters(codec="ascii")))
    assume(re.fullmatch(r"(aws.*)?[\w+/.:\"'-]+=?[\w+/.:-]*", example))
    text = f"x = `{example}`"
    match = exact.fullmatch(example)
    assert match is not None
    # A pattern may match a long name before the key, which stays; its group is the key.
    key = next((group for group in match.groups("") if len(group) >= 20), example)
    long = [run for run in re.findall(r"[\w+/-]{20,}", key) if re.search(r"\d", run)]
    assume(long and list(rule.analyze_string(text)))
    masked = mask_secrets(text.encode()).decode()
    assert masked != text
    assert not any(run in masked for run in long)


def test_text_without_markers_does_not_load_the_rules() -> None:
    code = "\n".join([*PLAIN, pem("RSA PRIVATE KEY")])
    probe = (
        "import sys; from gitmem.credentials import mask_secrets; "
        "mask_secrets(sys.stdin.buffer.read()); print('detect_secrets' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, input=code.encode(), check=True)
    assert result.stdout == b"False\n"


def test_a_key_whose_first_part_has_no_digit_is_masked() -> None:
    key = "SG." + "abcdefghijkLMNOPQRSTUV" + "." + "a1" * 21 + "x"
    assert mask_secrets(f'token = "{key}"'.encode()) == b'token = "' + b"." * len(key) + b'"'
