"""Detect changes of a working tree and of its repository without running git at every call."""
