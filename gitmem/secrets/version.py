"""Versions of what is masked: rows of the index depend on them. Cheap to import."""

from typing import Final

SCANNER_VERSION: Final = 2
"""Version of the scanner and of the rules in `own_rules`: increase it when it would mask other bytes."""

GITLEAKS_DIGEST: Final = "91e33ad457e5"
"""Digest of `gitleaks_rules.json`, written by `tests/data_updates/update_secret_rules.py`."""

SECRETS_VERSION: Final = f"{SCANNER_VERSION}-{GITLEAKS_DIGEST}"
