"""Embed texts as vectors. `encoder` defines the interface, `bundled` implements it with the model in the package."""
