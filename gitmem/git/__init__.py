"""Everything that is asked of git: where a repository is, its revisions, trees, objects, attributes and configuration.

Two engines stand behind the same functions: the `git` program, and pygit2 where many objects are read at once.
Nothing here writes to a repository, except for the two functions that add and remove a line of `info/exclude`.
"""
