"""Tools of the older systems that gitmem replaces, as thin adapters on its own."""
