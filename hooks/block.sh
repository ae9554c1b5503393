# >>> gitmem >>> keeps its index up to date, unseen and unheard; out again with: gitmem hooks uninstall@NOTE@
( (
    export PATH="${PATH:+$PATH:}/usr/bin:/bin"
    starting="${GIT_DIR:-.git}/gitmem-starting" # of many at once one goes on; one that died is waited for a minute
    set -C
    true >"$starting" || [ -z "$(find "$starting" -mmin -1)" ] || exit 0
    if command -v gitmem; then set -- gitmem; else set -- @PROGRAM@; fi
    nice -n 10 "$@" hook @EVENT@ || true
    rm -f "$starting"
) & ) </dev/null >/dev/null 2>&1 &
# <<< gitmem <<<
