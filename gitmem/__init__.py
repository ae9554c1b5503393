"""A memory for git repositories: ask in words, get the exact code, at any revision, offline."""

__version__ = "0.1.0"
