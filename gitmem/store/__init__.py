"""The files under `.gitmem/`: segments, manifest, views, graph. One writer, many readers; all can be made anew."""
