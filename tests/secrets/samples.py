"""Examples of secrets. They are put together at run time, so that no scanner takes this file for a leak."""

from typing import Final

_MIX: Final = "q7Rk2vXz9LmW4tYb8NcJ3hFd6PsG5aUe1TgKoViBwMxQyZrCnDpSlHjEfAu0OI"
_HEX: Final = "9f1c7b3ae85d2046c1b98ef37a4d6520" * 4


def mix(length: int) -> str:
    """Return random-looking letters and digits."""
    return (_MIX * 5)[:length]


def capitals(length: int) -> str:
    """Return random-looking capitals and digits from 2 to 7."""
    return ("Q7RK2VXZ4LMWTYB3NCJHFD6PSG5AUE" * 3)[:length]


SAMPLES: Final = {
    "anthropic": "sk-ant-" + "api03-" + mix(93) + "AA",
    "anthropic, short": "sk-ant-" + mix(40),
    "openai": "sk-" + "proj-" + mix(74) + "T3Blbk" + "FJ" + mix(74),
    "github, classic": "ghp_" + mix(36),
    "github, server": "ghs_" + mix(36),
    "github, fine-grained": "github_" + "pat_" + mix(22) + "_" + mix(59),
    "google api": "AI" + "za" + mix(35),
    "google oauth": "GOCS" + "PX-" + mix(28),
    "npm": "npm_" + mix(36),
    "hugging face": "hf_" + "aQbRcSdTeUfVgWhXiYjZkAlBmCnDoEpFqG",
    "digitalocean": "dop_" + "v1_" + _HEX[:64],
    "shopify": "shp" + "at_" + _HEX[:32],
    "vault": "hv" + "s." + mix(95),
    "age": "AGE-SECRET-" + "KEY-1" + ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2)[:58],
    "aws id": "AK" + "IA" + capitals(16),
    "aws secret, .env": "AWS_SECRET_ACCESS_KEY=" + mix(20) + "/" + mix(19),
    "aws secret, code": 'aws_secret_key = "' + mix(20) + "+" + mix(19) + '"',
    "azure storage": "Account" + "Key=" + mix(60) + mix(26) + "==",
    "slack bot": "xox" + "b-" + "123456789012-1234567890123-" + mix(24),
    "slack webhook": "https://hooks.slack" + ".com/services/T0B3CJQMR/B385JAMBF/" + mix(24),
    "stripe": "sk_" + "live_" + mix(24),
    "sendgrid": "SG" + "." + mix(22) + "." + mix(43),
    "gitlab": "glp" + "at-" + mix(20),
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + mix(80),
    "square": "sq0" + "csp-" + mix(43),
    "telegram": "TELEGRAM_TOKEN=" + "110201543:AA" + mix(33),
    "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + mix(43),
    "database url": "postgres://app:" + "T0p5ecretPw@db.internal:5432/app",
    "redis url": "redis://:" + "h4rdToGuessPw@cache:6379/0",
    ".env, unquoted": "DB_PASSWORD=" + "Xk29_bqLm!7z",
    ".env, exported": "export SESSION_SECRET=" + mix(32),
    ".env, quoted": 'JWT_SECRET="' + mix(40) + '"',
    "yaml": "  api_key: " + mix(32),
    "json": '"client_secret": "' + mix(40) + '"',
}
"""Text with one secret by kind."""

VALUES: Final = {
    "aws secret, .env": 22, "aws secret, code": 18, "azure storage": 11, "telegram": 15,
    "database url": 15, "redis url": 9, ".env, unquoted": 12, ".env, exported": 22, ".env, quoted": 12, "yaml": 11,
    "json": 18,
}  # fmt: skip
"""Length of the name before a secret, if it has one: the name stays."""
