"""State machine of git commands in any order, and an index that follows them."""
