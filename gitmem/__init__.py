"""Search git repositories by meaning and by symbol, at any revision, offline."""

__version__ = "0.1.0"
