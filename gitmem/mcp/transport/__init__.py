"""How messages travel: JSON-RPC over standard input and output, HTTP, the first handshake, and shutdown."""
