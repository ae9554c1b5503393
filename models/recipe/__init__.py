"""The recipe of the bundled model: packages to training pairs to a model. Never imported by gitmem itself."""
