"""From a question to ranked hits. Each stage is a pure function over a snapshot and a view; `engine` runs them."""
