( ( command -v gitmem && exec gitmem hook refresh; exec @PROGRAM@ hook refresh ) </dev/null >/dev/null 2>&1 & ) #
