"""The HTTP API below `/api/v1`: one table of operations, from which both the routes and the description are made."""
