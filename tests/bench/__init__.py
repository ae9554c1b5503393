"""What gitmem costs and how well it answers, measured by one command: `python -m tests.bench NAME`."""
