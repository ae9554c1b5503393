#!/bin/sh
# Started by pre-commit: use the gitmem on PATH. A colleague without one must be able to commit.
if command -v gitmem >/dev/null; then exec gitmem hook "$@"; fi
echo "gitmem is not installed, so nothing is indexed; see the hooks gitmem-index-isolated and gitmem-refresh-isolated"
