"""Second version of the schema: lists of terms in runs, and the blobs of a head as bits. Published rows are dropped."""

# A head's blobs are known in two forms. `entries` has its paths; `head_parts` has a bit for each blob of a part, so a
# function learns with one aggregate which blobs the caller may read, without a table of all of them.
#
# The lists of terms cannot be divided by reader, so no role but publishers may read them. The functions take only the
# heads that the caller may read, and return no blob without a bit in one of these.

from typing import Final

DROP_FIRST_ROWS: Final = """
DROP FUNCTION gitmem.near_blobs, gitmem.term_blobs, gitmem.path_blobs, gitmem.readable_blobs;
DROP TABLE gitmem.entries, gitmem.signatures, gitmem.blobs;
DELETE FROM gitmem.heads;
"""

TABLES: Final = """
CREATE SEQUENCE gitmem.blob_ids;
CREATE TABLE gitmem.blobs (
  id bigint PRIMARY KEY, oid bytea NOT NULL, language text NOT NULL,
  producer int NOT NULL REFERENCES gitmem.producers, parsed_language text NOT NULL, outcome smallint NOT NULL,
  chunks int NOT NULL, kinds int NOT NULL, words int NOT NULL, record bytea NOT NULL, text bytea NOT NULL,
  UNIQUE (oid, language, producer));
ALTER TABLE gitmem.blobs ALTER record SET STORAGE EXTERNAL, ALTER text SET STORAGE EXTERNAL;
CREATE TABLE gitmem.signatures (
  blob bigint PRIMARY KEY REFERENCES gitmem.blobs ON DELETE CASCADE, bits bit varying[] NOT NULL);
CREATE TABLE gitmem.runs (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, part int NOT NULL, scale smallint NOT NULL, postings int NOT NULL);
CREATE INDEX ON gitmem.runs (part);
CREATE TABLE gitmem.term_lists (
  run int NOT NULL REFERENCES gitmem.runs ON DELETE CASCADE, bucket int NOT NULL, terms smallint[] NOT NULL,
  entries smallint[] NOT NULL, highs smallint[], PRIMARY KEY (run, bucket));
CREATE TABLE gitmem.entries (
  head int NOT NULL REFERENCES gitmem.heads ON DELETE CASCADE, path bytea NOT NULL, blob bigint NOT NULL
  REFERENCES gitmem.blobs, words int[] NOT NULL, PRIMARY KEY (head, path));
CREATE INDEX ON gitmem.entries (blob, head);
CREATE INDEX ON gitmem.entries USING gin (words) WITH (fastupdate = off);
CREATE TABLE gitmem.head_parts (
  head int NOT NULL REFERENCES gitmem.heads ON DELETE CASCADE, part int NOT NULL, blobs bit(8192) NOT NULL,
  PRIMARY KEY (head, part));
"""

RIGHTS: Final = """
GRANT SELECT ON gitmem.blobs, gitmem.signatures, gitmem.entries TO gitmem_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON gitmem.blobs, gitmem.signatures, gitmem.runs, gitmem.term_lists,
  gitmem.entries, gitmem.head_parts TO gitmem_publisher, gitmem_admin;
GRANT USAGE ON SEQUENCE gitmem.blob_ids TO gitmem_publisher, gitmem_admin;
DO $$ DECLARE name text; BEGIN
  FOREACH name IN ARRAY ARRAY['blobs', 'signatures', 'runs', 'term_lists', 'entries', 'head_parts'] LOOP
    EXECUTE format('ALTER TABLE gitmem.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE gitmem.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY publish ON gitmem.%I TO gitmem_publisher, gitmem_admin USING (true)', name);
  END LOOP;
END $$;
CREATE POLICY read ON gitmem.entries FOR SELECT TO gitmem_reader USING (head IN (SELECT id FROM gitmem.heads));
CREATE POLICY read ON gitmem.blobs FOR SELECT TO gitmem_reader
  USING (EXISTS (SELECT FROM gitmem.entries WHERE entries.blob = blobs.id));
CREATE POLICY read ON gitmem.signatures FOR SELECT TO gitmem_reader
  USING (EXISTS (SELECT FROM gitmem.entries WHERE entries.blob = signatures.blob));
"""

# Estimates for functions are far too high, and `jit` would compile each call for longer than it runs.
#
# `array_positions` finds the equal terms of a sorted list in one pass without a row for each. Smallints are signed:
# the exclusive or with 32768 maps 0 to 65535 onto them.
FUNCTIONS: Final = """
CREATE FUNCTION gitmem.enter_parts(head int) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM gitmem.head_parts WHERE head_parts.head = $1;
  INSERT INTO gitmem.head_parts SELECT $1, (blob >> 13)::int,
      bit_or(set_bit(repeat('0', 8192)::bit(8192), (blob & 8191)::int, 1))
    FROM gitmem.entries WHERE entries.head = $1 GROUP BY 2
$$;
CREATE FUNCTION gitmem.readable_heads(heads int[]) RETURNS TABLE (head int) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT heads.id FROM gitmem.heads, (SELECT CASE WHEN current_setting('role') = 'none' THEN session_user::text
    ELSE current_setting('role') END AS name) caller
  WHERE heads.id = ANY($1) AND (pg_has_role(caller.name, 'gitmem_publisher', 'USAGE')
    OR EXISTS (SELECT FROM gitmem.grants WHERE grants.repository = heads.repository
      AND pg_has_role(caller.name::name, grants.role::oid, 'USAGE')))
$$;
CREATE FUNCTION gitmem.readable_parts(heads int[]) RETURNS TABLE (part int, blobs bit) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT head_parts.part, bit_or(head_parts.blobs) FROM gitmem.head_parts
  WHERE head_parts.head IN (SELECT head FROM gitmem.readable_heads($1)) GROUP BY 1
$$;
CREATE FUNCTION gitmem.near_blobs(
  heads int[], signs bit varying, most int, parts int[] DEFAULT NULL, passing bit varying[] DEFAULT NULL)
RETURNS TABLE (blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB' SET jit = off AS $$
  WITH readable AS MATERIALIZED (
    SELECT found.part, CASE WHEN parts IS NULL THEN found.blobs ELSE found.blobs & filter.bits END AS blobs
    FROM gitmem.readable_parts(heads) found
    LEFT JOIN unnest(parts, passing) filter (part, bits) ON filter.part = found.part
    WHERE parts IS NULL OR filter.part IS NOT NULL)
  SELECT signatures.blob FROM readable JOIN gitmem.signatures
    ON signatures.blob >= readable.part::bigint << 13 AND signatures.blob < (readable.part + 1)::bigint << 13
    AND get_bit(readable.blobs, (signatures.blob & 8191)::int) = 1
  CROSS JOIN LATERAL (SELECT min(bit_count(own # signs)) AS distance FROM unnest(bits) own) nearest
  ORDER BY nearest.distance, signatures.blob LIMIT most
$$;
CREATE FUNCTION gitmem.term_blobs(heads int[], hashes bigint[]) RETURNS TABLE (hash bigint, blob bigint, code int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB' SET jit = off AS $$
  WITH readable AS MATERIALIZED (SELECT * FROM gitmem.readable_parts(heads))
  SELECT wanted.hash, (readable.part::bigint << 13) | ((entry & 65535) >> 3), entry & 7
  FROM readable JOIN gitmem.runs ON runs.part = readable.part CROSS JOIN unnest(hashes) wanted (hash)
  JOIN gitmem.term_lists list ON list.run = runs.id AND list.bucket = (wanted.hash >> (32 - runs.scale))::int
  CROSS JOIN LATERAL (
    SELECT array_positions(list.terms, ((wanted.hash & 65535 # 32768) - 32768)::smallint) AS places OFFSET 0) equal
  CROSS JOIN LATERAL unnest(list.entries[places[1] : places[cardinality(places)]]) found (small)
  CROSS JOIN LATERAL (SELECT small::int AS entry) wide
  WHERE get_bit(readable.blobs, (entry & 65535) >> 3) = 1
$$;
CREATE FUNCTION gitmem.path_blobs(heads int[], keys int[]) RETURNS TABLE (key int, blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB' SET jit = off SET enable_seqscan = off AS $$
  WITH readable AS MATERIALIZED (SELECT * FROM gitmem.readable_heads(heads))
  SELECT DISTINCT wanted.key, found.blob FROM unnest(keys) wanted (key)
  CROSS JOIN LATERAL (SELECT entries.head, entries.blob FROM gitmem.entries
    WHERE words @> ARRAY[wanted.key] AND entries.head = ANY(heads) OFFSET 0) found
  JOIN readable ON readable.head = found.head
$$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA gitmem FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA gitmem TO gitmem_reader, gitmem_publisher, gitmem_admin;
"""

PACKED_SCHEMA: Final = DROP_FIRST_ROWS + TABLES + RIGHTS + FUNCTIONS
