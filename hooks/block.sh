# >>> gitmem >>> keeps its index up to date, unseen and unheard; out again with: gitmem hooks uninstall@NOTE@
( (
    export PATH="${PATH:+$PATH:}/usr/bin:/bin"
    command -v gitmem && exec nice -n 10 gitmem hook @EVENT@
    exec nice -n 10 @PROGRAM@ hook @EVENT@
) & ) </dev/null >/dev/null 2>&1 &
# <<< gitmem <<<
