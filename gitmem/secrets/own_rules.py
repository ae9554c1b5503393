"""Rules for secrets that the rules of gitleaks do not find, in the same form."""

from typing import Any, Final

_PLACEHOLDER: Final = (
    r"(?i)^(?:\W*|[*x.]+|(?:your|my|some|the)?[_-]?(?:pass(?:w(?:or)?d|phrase)?|pwd|pw|secret|token|key|user(?:name)?)"
    r"\d{0,3}|change[_-]?(?:it|me)\d{0,4}|example|sample|test(?:ing)?\d{0,3}|dummy|fake|foo(?:bar)?|bar|baz|abc\d{0,3}|p(?:ss)?"
    r"|postgres|root|admin|guest|mysql|redis|none|null|undefined|redacted|hidden|masked|hunter2|12345\d{0,5})$"
)
_REFERENCE: Final = r"[${}<>%()\[\]`]|\.\.\.|^[@:/.]"
"""References to variables, placeholders in brackets, and paths."""


def _rule(
    name: str, keywords: list[str], pattern: str, entropy: float = 0, allowed: tuple[str, ...] = (), needs: str = ""
) -> Any:
    return {
        "id": name,
        "keywords": keywords,
        "pattern": pattern,
        "starts_at_keyword": False,
        "entropy": entropy,
        "group": 0,
        "path": "",
        "needs": needs,
        "allowed": [{"target": "secret", "patterns": list(allowed), "words": []}],
    }


OWN_RULES: Final = (
    _rule("password-in-url", ["://"], r"://[^\s/:@'\"`<>]{0,64}:([^\s/@'\"`<>]{3,128})@[\w.\[-]", 0,
          (_PLACEHOLDER, _REFERENCE), needs="@"),
    # A line of an `.env` file: a name in capitals and a value without quotes, with a letter and a digit.
    _rule("environment-assignment", ["pass", "pwd", "secret", "token", "key", "credential", "auth"],
          r"(?m)^[ \t]*(?:export[ \t]+|ENV[ \t]+)?[A-Z][A-Z0-9_]*(?:PASS(?:WORD|WD|PHRASE)?|PWD|SECRET|TOKEN|KEY"
          r"|CREDENTIALS?|AUTH)=(?=\S*\d)(?=\S*[A-Za-z])([^\s'\"#]{10,256})[ \t]*\r?$", 3,
          (_PLACEHOLDER, _REFERENCE, r"(?i)^https?:|^(?:0x)?[0-9a-f]{0,8}$|[_-]example|^(?:true|false)$"), needs="="),
    _rule("google-oauth-client-secret", ["gocspx-"], r"\b(GOCSPX-[\w-]{28})(?![\w-])"),
    _rule("openai-api-key", ["sk-"], r"\b(sk-(?:(?:proj|svcacct|admin|None)-)?[A-Za-z0-9_-]{32,200})(?![\w-])", 4),
    _rule("anthropic-api-key", ["sk-ant-"], r"\b(sk-ant-[\w-]{24,256})", 3.5),
    _rule("aws-secret-access-key", ["aws", "secret"],
          r"(?i)(?:aws|secret)[\w .'\"-]{0,60}[=:>,]{1,3}[ \t'\"`]{0,5}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", 3.5,
          (r"^[0-9a-fA-F]+$", r"EXAMPLE")),
    _rule("azure-storage-key", ["accountkey="], r"(?i)AccountKey=([A-Za-z0-9+/]{86}==)"),
    _rule("square-oauth-secret", ["sq0csp-"], r"\b(sq0csp-[\w-]{43})"),
    _rule("npm-auth-token", ["_authtoken="], r"_authToken=([\w+/=-]{20,256})"),
    _rule("hugging-face-token", ["hf_"], r"\b(hf_[A-Za-z0-9]{34})\b", 3),
    _rule("vault-token", ["hvs.", "hvb.", "hvr."], r"\b(hv[sbr]\.[\w-]{24,300})", 3.5),
    _rule("slack-token", ["xoxa-", "xoxb-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], r"\b(xox[abopsr]-(?:\d+-)+[\w-]+)"),
    _rule("gitlab-token",
          ["glagent-", "glcbt-", "gldt-", "glft-", "glimt-", "gloas-", "glpat-", "glptt-", "glrt-", "glsoat-"],
          r"\b(gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[\w-]{20,64})(?![\w-])", 2.5),
)  # fmt: skip

OWN_ALLOWED: Final = {
    "generic-api-key": {
        "target": "match",
        # Code that refers to a key, not a key: `key = TestKeys.HS256`, `KeyAlgorithm alg = ECDH_ES_A256KW`.
        "patterns": [
            r"[=:>,|]\s*(?:[A-Za-z_]\w{0,19}(?:\.[A-Za-z_]\w{0,19})+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[\s;]?$",
            r">\s+[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[\s;]?$",
        ],
        "words": [],
    }
}
"""Additions to the allow-lists of gitleaks, by rule."""
