"""Entries of gitmem outside its own files: git hooks and the configuration of MCP clients.

Each installation can be undone, and leaves every other byte unchanged.
"""
