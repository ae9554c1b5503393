#!/bin/sh
@BLOCK@
# The hook that stood here before, which is not for this shell to read:
before="${0%/*}/@EVENT@.before-gitmem"
[ ! -x "$before" ] || exec "$before" "$@"
