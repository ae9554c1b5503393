"""Seventh version of the schema: functions decide what the caller may read before they look up anything it asks for.

PostgreSQL counts what each statement reads, for everybody to see: `pg_stat_xact_all_tables` the rows, EXPLAIN the
pages, inside functions, too. If a function looked a name up and then dropped the rows of hidden repositories, it would
return nothing, but the counts would say whether the name exists.
"""

# A materialized list holds what may be read. The condition of the caller applies to that list, or, by LATERAL with
# OFFSET 0, to one look-up for each of its rows, so no setting of the planner moves it to the front.
#
# The index of words of paths is one for all repositories, so a look-up there still shows how many files of the database
# have a word, but not in which head: the condition names no head.
#
# Publishers replace revisions. They remove neither a repository, whose grants and records would go with it, nor a head.
# To lock the row of a repository takes the right to change one of its columns, and nobody can set a generated number.
#
# Publishers may skip numbers of runs, as those of blobs, see `partitions.skip_numbers`.
#
# Partitions on this server get policies, as the tables had before they were divided.

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

_FUNCTIONS: "Final[LiteralString]" = """
CREATE OR REPLACE FUNCTION gitmem.visible_heads(names text[] DEFAULT NULL)
RETURNS TABLE (name text, head gitmem.heads)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH readable AS MATERIALIZED (
    SELECT own.id, repositories.name FROM gitmem.readable_repositories() own JOIN gitmem.repositories USING (id))
  SELECT readable.name, heads FROM readable JOIN gitmem.heads ON heads.repository = readable.id
  WHERE names IS NULL OR readable.name = ANY(names)
$$;
CREATE OR REPLACE FUNCTION gitmem.matching_paths(heads int[], files bytea[], pieces bytea[])
RETURNS TABLE (path bytea, blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH readable AS MATERIALIZED (SELECT head FROM gitmem.readable_heads(heads))
  SELECT found.path, found.blob FROM readable CROSS JOIN LATERAL (
    SELECT entries.path, entries.blob FROM gitmem.entries WHERE entries.head = readable.head
      AND (files IS NULL OR entries.path = ANY(files))
      AND (pieces IS NULL OR EXISTS (SELECT FROM unnest(pieces) piece WHERE position(piece IN entries.path) > 0))
    OFFSET 0) found
$$;
CREATE OR REPLACE FUNCTION gitmem.visible_file(head int, path bytea) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH readable AS MATERIALIZED (SELECT own.head FROM gitmem.readable_heads(ARRAY[$1]) own)
  SELECT found.blob FROM readable CROSS JOIN LATERAL (
    SELECT entries.blob FROM gitmem.entries WHERE entries.head = readable.head AND entries.path = $2 OFFSET 0) found
$$;
CREATE OR REPLACE FUNCTION gitmem.path_blobs(heads int[], keys int[]) RETURNS TABLE (key int, blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB' SET jit = off SET enable_seqscan = off AS $$
  WITH readable AS MATERIALIZED (SELECT head FROM gitmem.readable_heads(heads))
  SELECT DISTINCT wanted.key, found.blob FROM unnest(keys) wanted (key)
  CROSS JOIN LATERAL (SELECT entries.head, entries.blob FROM gitmem.entries
    WHERE words @> ARRAY[wanted.key] OFFSET 0) found
  JOIN readable ON readable.head = found.head
$$;
"""

_RIGHTS: "Final[LiteralString]" = """
REVOKE UPDATE, DELETE ON gitmem.repositories FROM gitmem_publisher;
GRANT UPDATE (id) ON gitmem.repositories TO gitmem_publisher;
REVOKE DELETE ON gitmem.heads FROM gitmem_publisher;
REVOKE UPDATE, DELETE ON gitmem.producers FROM gitmem_publisher;
GRANT USAGE ON SEQUENCE gitmem.runs_id_seq TO gitmem_publisher, gitmem_admin;
"""

PROTECT: "Final[LiteralString]" = """
DO $$ DECLARE own regclass; BEGIN
  IF NOT EXISTS (SELECT FROM gitmem.partitions WHERE server IS NOT NULL) THEN
    FOR own IN SELECT relid FROM unnest(ARRAY['contents', 'signatures', 'term_lists']) name,
        pg_partition_tree(('gitmem.' || name)::regclass) LOOP
      EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', own);
      IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = own AND polname = 'publish') THEN
        EXECUTE format('CREATE POLICY publish ON %s TO gitmem_publisher, gitmem_admin USING (true)', own);
      END IF;
    END LOOP;
  END IF;
END $$;
"""
"""Puts policies on the tables of contents and their partitions, for roles that may read all tables of a database.

Foreign tables take none, and one on their parent would keep postgres_fdw from sending rows in batches.
"""

RIGHTS_FIRST: "Final[LiteralString]" = _FUNCTIONS + _RIGHTS + PROTECT
