"""MCP server: tools for agents over standard input and output, or over HTTP."""
