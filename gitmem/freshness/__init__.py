"""Keep the index up to date: select the tree, index its missing blobs, in the foreground or in the background."""
