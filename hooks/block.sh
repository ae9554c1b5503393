# >>> gitmem >>> updates the index in the background; to remove it: gitmem hooks uninstall@NOTE@
( (
    export PATH="${PATH:+$PATH:}/usr/bin:/bin"
    starting="${GIT_DIR:-.git}/@STARTING@" # only one of many hooks goes on; a stale file expires after a minute
    set -C
    true >"$starting" || [ -z "$(find "$starting" -mmin -1)" ] || exit 0
    if command -v gitmem; then set -- gitmem; else set -- @PROGRAM@; fi
    GITMEM_CALLER=$PPID nice -n 10 "$@" hook @EVENT@ || true
    rm -f "$starting"
) & ) </dev/null >/dev/null 2>&1 &
# <<< gitmem <<<
