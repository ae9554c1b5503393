"""The command line. Commands parse their arguments, call an action and format what it returns; nothing else."""
