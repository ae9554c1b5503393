"""Search: from a parsed query to ranked hits.

Each stage is a pure function over a snapshot of the index and a view of a tree; `engine` runs them in order.
"""
