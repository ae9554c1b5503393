"""Migration that gives names of repositories, revisions and paths to readers through functions alone.

EXPLAIN ANALYZE counts the rows that row-level security removed. With a condition like `name < 'm'` on an indexed
column, a reader could thereby count hidden names, and find all of them by bisection. It shows nothing of the inside of
a function with the rights of the owner.
"""

# The operators of text and bytea are marked leakproof, so PostgreSQL applies their conditions before the policies.
# Readers keep the right to the numbers of rows, because policies look these up with the rights of the reader.
#
# The planner's estimates, which EXPLAIN shows as well, come from samples of all rows. `SET STATISTICS 0` keeps ANALYZE
# from collecting them, and a change of the type, even to the same one, discards those that exist. `oid` keeps its
# extremes: without any statistics the planner expects one in two hundred blobs to match a hash, and reads the table.

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

VISIBLE_NAMES: "Final[LiteralString]" = """
CREATE FUNCTION gitmem.readable_repositories() RETURNS TABLE (id int) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT repositories.id FROM gitmem.repositories, (SELECT CASE WHEN current_setting('role') = 'none'
    THEN session_user::text ELSE current_setting('role') END AS name) caller
  WHERE pg_has_role(caller.name, 'gitmem_publisher', 'USAGE')
    OR repositories.id IN (SELECT grants.repository FROM gitmem.grants
      WHERE pg_has_role(caller.name::name, grants.role::oid, 'USAGE'))
$$;
CREATE FUNCTION gitmem.visible_repositories() RETURNS TABLE (id int, name text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT id, repositories.name FROM gitmem.readable_repositories() JOIN gitmem.repositories USING (id)
$$;
CREATE FUNCTION gitmem.visible_heads(names text[] DEFAULT NULL) RETURNS TABLE (name text, head gitmem.heads)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT repositories.name, heads FROM gitmem.readable_repositories() readable
    JOIN gitmem.repositories ON repositories.id = readable.id JOIN gitmem.heads ON heads.repository = readable.id
  WHERE names IS NULL OR repositories.name = ANY(names)
$$;
CREATE FUNCTION gitmem.visible_paths(heads int[], blobs bigint[]) RETURNS TABLE (head int, path bytea, blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT entries.head, entries.path, entries.blob FROM gitmem.entries WHERE entries.blob = ANY(blobs)
    AND entries.head IN (SELECT own.id FROM gitmem.readable_repositories() readable
      JOIN gitmem.heads own ON own.repository = readable.id WHERE own.id = ANY(heads))
$$;
CREATE FUNCTION gitmem.matching_paths(heads int[], files bytea[], pieces bytea[])
RETURNS TABLE (path bytea, blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT entries.path, entries.blob FROM gitmem.entries
  WHERE entries.head IN (SELECT own.id FROM gitmem.readable_repositories() readable
      JOIN gitmem.heads own ON own.repository = readable.id WHERE own.id = ANY(heads))
    AND (files IS NULL OR entries.path = ANY(files))
    AND (pieces IS NULL OR EXISTS (SELECT FROM unnest(pieces) piece WHERE position(piece IN entries.path) > 0))
$$;
CREATE FUNCTION gitmem.visible_file(head int, path bytea) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT entries.blob FROM gitmem.entries WHERE entries.head = $1 AND entries.path = $2
    AND entries.head IN (SELECT own.id FROM gitmem.readable_repositories() readable
      JOIN gitmem.heads own ON own.repository = readable.id WHERE own.id = $1)
$$;
REVOKE EXECUTE ON FUNCTION gitmem.readable_repositories, gitmem.visible_repositories, gitmem.visible_heads,
  gitmem.visible_paths, gitmem.matching_paths, gitmem.visible_file FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gitmem.visible_repositories, gitmem.visible_heads, gitmem.visible_paths,
  gitmem.matching_paths, gitmem.visible_file TO gitmem_reader, gitmem_publisher, gitmem_admin;
REVOKE SELECT ON gitmem.repositories, gitmem.heads, gitmem.entries FROM gitmem_reader;
GRANT SELECT (id) ON gitmem.repositories TO gitmem_reader;
GRANT SELECT (id, repository, producer) ON gitmem.heads TO gitmem_reader;
GRANT SELECT (head, blob) ON gitmem.entries TO gitmem_reader;

ALTER TABLE gitmem.repositories ALTER name SET STATISTICS 0, ALTER name TYPE text;
ALTER TABLE gitmem.producers ALTER fingerprint SET STATISTICS 0, ALTER fingerprint TYPE text;
ALTER TABLE gitmem.heads ALTER revision SET STATISTICS 0, ALTER revision TYPE text,
  ALTER commit SET STATISTICS 0, ALTER commit TYPE text, ALTER tree SET STATISTICS 0, ALTER tree TYPE text;
ALTER TABLE gitmem.entries ALTER path SET STATISTICS 0, ALTER path TYPE bytea;
ALTER TABLE gitmem.blobs ALTER oid SET STATISTICS 1, ALTER oid TYPE bytea;
"""
