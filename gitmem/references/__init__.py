"""Who defines, calls, extends and imports a name in one tree. A segment stores names as written, for each blob.

What a name refers to depends on the other files of a tree, so it is resolved for each query. `tree_names` and
`file_names` read the names, `module_paths` matches imports with files, `resolution` finds the definitions that a
reference may mean, `class_members` those of a class, and `usages` follows the relations between them.
"""
