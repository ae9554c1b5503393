"""Commands that need several packages, one module each, named like the command. All front ends share them."""
