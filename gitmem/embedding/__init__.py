"""Texts to vectors. `encoder` says what an encoder is, `bundled` opens the one that ships with the package."""
