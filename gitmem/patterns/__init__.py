"""Glob patterns as git matches them: the one matcher of ignore files, attribute files and the filters of queries."""
