"""The web page and the HTTP API of one user's repositories, in one application next to the MCP server."""
