"""Sixth version of the schema: contents may lie in partitions, on this server or on others (`gitmem.org.partitions`).

A database without partitions keeps all rows in the tables that it has. The names, the keys of blobs, the paths and the
rights always stay on the server that people connect to.
"""

# A partition holds whole parts of 8,192 blobs (`term_lists`), so the bits that say which blobs somebody may read are
# sent to one partition alone. Lists of terms carry the part for that; those from before this version get it when the
# database is divided.
#
# `replaced` has the blobs that heads have lost: they are freed as soon as no publisher is at work.
#
# `contents` is empty without partitions. Then `blobs` has the records and texts, else an empty string for each.

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

_TABLES: "Final[LiteralString]" = """
CREATE TABLE gitmem.partitions (number int PRIMARY KEY, server name);
CREATE TABLE gitmem.contents (blob bigint PRIMARY KEY, record bytea NOT NULL, text bytea NOT NULL);
ALTER TABLE gitmem.contents ALTER record SET STORAGE EXTERNAL, ALTER text SET STORAGE EXTERNAL,
  ALTER record SET STATISTICS 0, ALTER text SET STATISTICS 0;
CREATE TABLE gitmem.replaced (blob bigint NOT NULL);
ALTER TABLE gitmem.term_lists ADD part int;
ALTER TABLE gitmem.partitions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE gitmem.contents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE gitmem.replaced ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY publish ON gitmem.partitions TO gitmem_publisher, gitmem_admin USING (true);
CREATE POLICY publish ON gitmem.contents TO gitmem_publisher, gitmem_admin USING (true);
CREATE POLICY publish ON gitmem.replaced TO gitmem_publisher, gitmem_admin USING (true);
GRANT SELECT ON gitmem.partitions TO gitmem_publisher, gitmem_admin;
GRANT SELECT, INSERT, UPDATE, DELETE ON gitmem.contents, gitmem.replaced TO gitmem_publisher, gitmem_admin;
"""

# A list of numbers in the condition, and not a join, because only that is sent to other servers.
_FUNCTIONS: "Final[LiteralString]" = """
CREATE FUNCTION gitmem.readable_of(blobs bigint[]) RETURNS bigint[] LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT array_agg(DISTINCT entries.blob) FROM gitmem.entries WHERE entries.blob = ANY($1)
    AND entries.head IN (SELECT own.id FROM gitmem.readable_repositories() readable
      JOIN gitmem.heads own ON own.repository = readable.id)
$$;
CREATE FUNCTION gitmem.visible_records(blobs bigint[]) RETURNS TABLE (
  id bigint, oid bytea, language text, parsed_language text, outcome smallint, record bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH readable AS MATERIALIZED (SELECT gitmem.readable_of($1) AS ids),
  apart AS MATERIALIZED (SELECT contents.blob, contents.record FROM gitmem.contents
    WHERE contents.blob = ANY((SELECT ids FROM readable)::bigint[]))
  SELECT blobs.id, oid, language, parsed_language, outcome, coalesce(apart.record, blobs.record)
  FROM gitmem.blobs LEFT JOIN apart ON apart.blob = blobs.id
  WHERE blobs.id = ANY((SELECT ids FROM readable)::bigint[])
    AND (apart.blob IS NOT NULL OR octet_length(blobs.record) > 0)
$$;
CREATE FUNCTION gitmem.visible_texts(blobs bigint[]) RETURNS TABLE (oid bytea, parsed_language text, text bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH readable AS MATERIALIZED (SELECT gitmem.readable_of($1) AS ids),
  apart AS MATERIALIZED (SELECT contents.blob, contents.text FROM gitmem.contents
    WHERE contents.blob = ANY((SELECT ids FROM readable)::bigint[]))
  SELECT oid, parsed_language, coalesce(apart.text, blobs.text)
  FROM gitmem.blobs LEFT JOIN apart ON apart.blob = blobs.id
  WHERE blobs.id = ANY((SELECT ids FROM readable)::bigint[])
    AND (apart.blob IS NOT NULL OR octet_length(blobs.text) > 0)
$$;
DROP FUNCTION gitmem.visible_blobs;
CREATE FUNCTION gitmem.check_servers() RETURNS TABLE (server name, bytes bigint, problem text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  FOR server IN SELECT partitions.server FROM gitmem.partitions WHERE partitions.server IS NOT NULL ORDER BY number LOOP
    bytes := NULL;
    problem := NULL;
    BEGIN
      SELECT size INTO bytes
        FROM gitmem_links.dblink(server::text, 'SELECT gitmem_shard.bytes()') AS answer (size bigint);
    EXCEPTION WHEN OTHERS THEN
      GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
    END;
    RETURN NEXT;
  END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION gitmem.readable_of, gitmem.visible_records, gitmem.visible_texts, gitmem.check_servers
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gitmem.visible_records, gitmem.visible_texts, gitmem.check_servers
  TO gitmem_reader, gitmem_publisher, gitmem_admin;
"""

PARTITION_SCHEMA: "Final[LiteralString]" = _TABLES + _FUNCTIONS
