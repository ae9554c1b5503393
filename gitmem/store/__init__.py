"""Files under `.gitmem/`: segments, manifest, views, graph. One writer, many readers; all files can be rebuilt."""
