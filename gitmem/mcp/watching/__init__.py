"""Detect changes of a working tree and its repository without asking git at every call."""
