"""Transports of the server: JSON-RPC over standard input and output, streamable HTTP, handshake and shutdown."""
