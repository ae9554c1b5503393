"""Access to git: repository location, revisions, trees, objects, references, attributes and configuration.

The same functions use one of two engines: the `git` program, or pygit2 when many objects are read at once. Only four
modules write to a repository: `tracking` (a line of `info/exclude`), `references`, `object_quarantine` and
`object_removal`.
"""
