# >>> gitmem >>> keeps its index up to date, unseen and unheard; out again with: gitmem hooks uninstall@NOTE@
( (
    command -v gitmem && exec gitmem hook @EVENT@
    exec @PROGRAM@ hook @EVENT@
) </dev/null >/dev/null 2>&1 & )
# <<< gitmem <<<
