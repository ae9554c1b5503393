"""Follow a definition, or lines of a file, back through the commits that changed it.

`tracer` walks from a commit to its parents, as CodeShovel (Grund, Chowdhury, Bradley, Hall and Holmes, ICSE 2021) and
CodeTracker (Jodavi and Tsantalis, FSE 2022) do. In each parent it looks for the same signature, then for a similar body
in the file, then in the other files that the commit changed (`matching`). `changes` says what distinguishes two
versions, `origins` what was split off or merged. `element_reader` parses in a child process. No index is needed.
"""
