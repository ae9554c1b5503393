"""Tools of the server: their descriptions, the check of their arguments, their handlers and their output."""
