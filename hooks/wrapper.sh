#!/bin/sh
@BLOCK@
# The original hook, which is not a script of this shell:
before="${0%/*}/@EVENT@.before-gitmem"
[ ! -x "$before" ] || exec "$before" "$@"
