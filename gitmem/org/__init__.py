"""Search many repositories together on a PostgreSQL server, which has the rows and the rights; gitmem ranks."""
