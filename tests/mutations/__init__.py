"""Mutation testing: small faults in the source, each of which a named test must notice."""
