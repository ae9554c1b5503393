"""Recipe of the bundled model: from packages to training pairs to a model. gitmem itself never imports it."""
