"""Convert the rules of gitleaks (`config/gitleaks.toml`, MIT) to `gitmem/secrets/gitleaks_rules.json`.

Usage: python tests/data_updates/update_secret_rules.py GITLEAKS_TOML VERSION. Patterns are translated from the syntax
of RE2 to that of `re`. The script fails on a pattern that `re` cannot compile, so no rule is lost unnoticed.
"""

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parents[2] / "gitmem" / "secrets"
_NAME_PREFIX: Final = re.compile(r"(?:\(\?i\))?\[\\w\.-\]\{0,50\}\?(?=\(\?:)")
"""Beginning of the rules that look for a name before the value. The scanner starts them at the name itself."""

_POSIX_CLASSES: Final = {"[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9"}


def main(source: Path, version: str) -> None:
    """Write the rules and the module that names their version."""
    config = tomllib.loads(source.read_text("utf-8"))
    rules = [_convert(rule) for rule in config["rules"] if "regex" in rule]
    allowed = config["allowlist"]
    text = json.dumps(
        {
            "source": "gitleaks, config/gitleaks.toml, MIT licence, copyright (c) 2019 Zachary Rice",
            "version": version,
            "allowed": {"patterns": [_to_python(regex) for regex in allowed["regexes"]], "words": allowed["stopwords"]},
            "rules": rules,
        },
        indent=1,
    )
    (FOLDER / "gitleaks_rules.json").write_text(text + "\n", "utf-8")
    digest = hashlib.sha256((text + "\n").encode()).hexdigest()[:12]
    module = FOLDER / "version.py"
    module.write_text(re.sub(r'(GITLEAKS_DIGEST: Final = )"\w*"', rf'\1"{digest}"', module.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"{len(rules)} rules of gitleaks {version}, digest {digest}\n")


def _convert(rule: dict[str, Any]) -> dict[str, Any]:
    named = _find_name_prefix(rule)
    regex = "(?i)" + rule["regex"][named.end() :] if named else rule["regex"]
    return {
        "id": rule["id"],
        "keywords": rule["keywords"],
        "pattern": _to_python(regex),
        "starts_at_keyword": named is not None,
        "entropy": rule.get("entropy", 0),
        "group": rule.get("secretGroup", 0),
        "path": rule.get("path", ""),
        "allowed": [converted for entry in rule.get("allowlists", []) if (converted := _convert_allowed(entry))],
    }


def _find_name_prefix(rule: dict[str, Any]) -> re.Match[str] | None:
    """Return the prefix of a rule whose keywords are the names that it looks for."""
    match = _NAME_PREFIX.match(rule["regex"])
    names = rule["regex"][match.end() :].partition(r"(?:[ ")[0].lower() if match else ""
    names = names.replace("passw(?:or)?d", "password|passwd")
    return match if all(word in names for word in rule["keywords"]) else None


def _convert_allowed(entry: dict[str, Any]) -> dict[str, Any] | None:
    """Return an allow-list; None for one that depends on the path, which the scanner does not know."""
    if entry.get("paths") and (entry.get("condition") == "AND" or not entry.get("regexes")):
        return None
    return {
        "target": entry.get("regexTarget", "secret"),
        "patterns": [_to_python(regex) for regex in entry.get("regexes", [])],
        "words": entry.get("stopwords", []),
    }


def _to_python(regex: str) -> str:
    """Translate the syntax of RE2: flags inside a pattern, `\\z`, POSIX classes, brackets in classes."""
    for name, chars in _POSIX_CLASSES.items():
        regex = regex.replace(name, chars)
    regex = _scope_flags(regex.replace(r"\z", r"\Z"))
    re.compile(regex.encode("ascii"))
    return regex


def _scope_flags(regex: str) -> str:
    """Turn each `(?i)` into a group that reaches to the end of the enclosing group, as RE2 reads it."""
    output, position = "", 0
    flags: list[list[str]] = [[]]  # of each open group
    in_class = False
    while position < len(regex):
        char = regex[position]
        if char == "\\":
            output += regex[position : position + 2]
            position += 2
            continue
        flag = None if in_class else re.compile(r"\(\?([is]+)\)").match(regex, position)
        if flag:
            flags[-1].append(f"(?{flag[1]}:")
            output += flags[-1][-1]
            position = flag.end()
            continue
        if in_class and char == "[":
            char = r"\["  # `re` warns of a nested set
        elif char == "[":
            in_class = True
            # A bracket that closes directly after the opening one is a member.
            opening = re.compile(r"\[\^?\]?").match(regex, position)
            assert opening is not None
            char = opening[0]
            position = opening.end() - 1
        elif in_class:
            in_class = char != "]"
        elif char == "(":
            flags.append([])
        elif char == ")":
            output += ")" * len(flags.pop())
        elif char == "|":  # flags hold for the later alternatives as well
            char = ")" * len(flags[-1]) + "|" + "".join(flags[-1])
        output += char
        position += 1
    return output + ")" * len(flags[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
