( ( export PATH="${PATH:+$PATH:}/usr/bin:/bin"; command -v gitmem && exec nice -n 10 gitmem hook refresh; exec nice -n 10 @PROGRAM@ hook refresh ) & ) </dev/null >/dev/null 2>&1 & #
