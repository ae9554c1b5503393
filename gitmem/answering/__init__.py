"""From a tree and an index to an answer: open the tree, search it, read and present the hits."""
