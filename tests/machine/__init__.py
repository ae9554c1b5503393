"""Anything that git can do to a repository, in any order, and an index that follows."""
