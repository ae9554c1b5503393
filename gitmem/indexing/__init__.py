"""The index: views of trees, index runs, compaction, garbage collection, verification. Only this package writes
segments."""
