"""Processes that stay: repositories held open between calls, and the detection of changes in between."""
