"""The files under `.gitmem/`: segments, manifest, views, graph. One writer, many readers; all of it can be made anew."""
