"""The page in a real browser: Debian's chromium, driven by playwright, with axe for accessibility."""
