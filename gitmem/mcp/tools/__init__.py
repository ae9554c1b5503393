"""The tools of the MCP server: their schemas, the checks of their arguments, their handlers and their output."""
