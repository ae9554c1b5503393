"""Makes git call gitmem when something has changed, and undoes it byte for byte."""
