"""Schema of a server that holds a share of the contents, and the functions by which the first server asks it.

Only the role of the first server may use it. That server sends, with each request, the bits of the blobs that may be
read, so a share knows neither repositories nor rights.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

# `owner` names the first server, once there is one. Contents are incomplete until that has committed the division.
#
# `postings` refuses a run whose lists are gone: a search that began before runs were merged would silently miss some.
SHARE: "Final[LiteralString]" = """
CREATE SCHEMA gitmem_shard;
CREATE TABLE gitmem_shard.owner (first text NOT NULL, is_complete boolean NOT NULL DEFAULT false);
CREATE TABLE gitmem_shard.contents (blob bigint PRIMARY KEY, record bytea NOT NULL, text bytea NOT NULL);
ALTER TABLE gitmem_shard.contents ALTER record SET STORAGE EXTERNAL, ALTER text SET STORAGE EXTERNAL,
  ALTER record SET STATISTICS 0, ALTER text SET STATISTICS 0;
CREATE TABLE gitmem_shard.signatures (blob bigint PRIMARY KEY, bits bit varying[] NOT NULL);
CREATE TABLE gitmem_shard.term_lists (
  run int NOT NULL, bucket int NOT NULL, terms smallint[] NOT NULL, entries smallint[] NOT NULL, highs smallint[],
  part int NOT NULL, PRIMARY KEY (run, bucket));
CREATE FUNCTION gitmem_shard.nearest(parts int[], readable bit varying[], signs bit varying, most int)
RETURNS TABLE (blob bigint, distance bigint, unused int)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' SET jit = off AS $$
  WITH readable AS MATERIALIZED (SELECT * FROM unnest(parts, readable) own (part, blobs))
  SELECT signatures.blob, nearest.distance, 0 FROM readable JOIN gitmem_shard.signatures
    ON signatures.blob >= readable.part::bigint << 13 AND signatures.blob < (readable.part + 1)::bigint << 13
    AND get_bit(readable.blobs, (signatures.blob & 8191)::int) = 1
  CROSS JOIN LATERAL (SELECT min(bit_count(own # signs)) AS distance FROM unnest(bits) own) nearest
  ORDER BY nearest.distance, signatures.blob LIMIT most
$$;
CREATE FUNCTION gitmem_shard.postings(
  parts int[], readable bit varying[], runs int[], run_parts int[], scales smallint[], hashes bigint[])
RETURNS TABLE (hash bigint, blob bigint, code int)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' SET jit = off AS $$
BEGIN
  IF EXISTS (SELECT FROM unnest(runs) own WHERE NOT EXISTS (
      SELECT FROM gitmem_shard.term_lists WHERE term_lists.run = own)) THEN
    RAISE EXCEPTION 'lists of terms were merged during the search' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN QUERY
  WITH readable AS MATERIALIZED (SELECT * FROM unnest(parts, readable) own (part, blobs))
  SELECT wanted.hash, (readable.part::bigint << 13) | ((entry & 65535) >> 3), entry & 7
  FROM readable JOIN unnest(runs, run_parts, scales) run (id, part, scale) ON run.part = readable.part
  CROSS JOIN unnest(hashes) wanted (hash)
  JOIN gitmem_shard.term_lists list ON list.run = run.id AND list.bucket = (wanted.hash >> (32 - run.scale))::int
  CROSS JOIN LATERAL (
    SELECT array_positions(list.terms, ((wanted.hash & 65535 # 32768) - 32768)::smallint) AS places OFFSET 0) equal
  CROSS JOIN LATERAL unnest(list.entries[places[1] : places[cardinality(places)]]) found (small)
  CROSS JOIN LATERAL (SELECT small::int AS entry) wide
  WHERE get_bit(readable.blobs, (entry & 65535) >> 3) = 1;
END
$$;
CREATE FUNCTION gitmem_shard.bytes() RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT sum(pg_total_relation_size(pg_class.oid))::bigint FROM pg_class
  WHERE relnamespace = 'gitmem_shard'::regnamespace AND relkind = 'r'
$$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA gitmem_shard FROM PUBLIC;
"""

# Connections of dblink stay open in the session that searches, and whoever may call dblink there could use them. So
# nobody but the owner has a right to its schema. A superuser may have made it for an owner who is none and cannot close
# it: then `partitions` looks whether it is closed.
LINKS: "Final[LiteralString]" = """
CREATE SCHEMA IF NOT EXISTS gitmem_links;
CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA gitmem_links;
CREATE EXTENSION IF NOT EXISTS dblink SCHEMA gitmem_links;
DO $$ BEGIN
  IF (SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'gitmem_links') THEN
    REVOKE ALL ON SCHEMA gitmem_links FROM PUBLIC;
    REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA gitmem_links FROM PUBLIC;
  END IF;
END $$;
"""

# All servers work at the same time, and stop if the request is cancelled. After any failure the connections are closed:
# results that are left would be taken for those of the next request, and a server that has restarted needs new ones.
ASK: "Final[LiteralString]" = """
CREATE FUNCTION gitmem.ask_servers(numbers int[], requests text[])
RETURNS TABLE (first bigint, second bigint, third int)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  server text; state text; message text;
BEGIN
  FOR at IN 1 .. coalesce(cardinality(numbers), 0) LOOP
    server := 'gitmem_' || numbers[at];
    IF server || '_search' <> ALL (coalesce(gitmem_links.dblink_get_connections(), '{}')) THEN
      PERFORM gitmem_links.dblink_connect(server || '_search', server);
    END IF;
    IF gitmem_links.dblink_send_query(server || '_search', requests[at]) <> 1 THEN
      RAISE EXCEPTION '%', gitmem_links.dblink_error_message(server || '_search');
    END IF;
  END LOOP;
  FOR at IN 1 .. coalesce(cardinality(numbers), 0) LOOP
    server := 'gitmem_' || numbers[at];
    RETURN QUERY SELECT * FROM gitmem_links.dblink_get_result(server || '_search') AS found (a bigint, b bigint, c int);
    -- The second result of a request is its end.
    PERFORM FROM gitmem_links.dblink_get_result(server || '_search') AS found (a bigint, b bigint, c int);
  END LOOP;
EXCEPTION WHEN query_canceled OR OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
  PERFORM CASE WHEN state = '57014' THEN gitmem_links.dblink_cancel_query(own) END,
      gitmem_links.dblink_disconnect(own)
    FROM unnest(gitmem_links.dblink_get_connections()) own WHERE own LIKE 'gitmem\\_%\\_search';
  IF state IN ('40001', '57014') THEN
    RAISE EXCEPTION '%', message USING ERRCODE = state;
  END IF;
  RAISE EXCEPTION 'server % of the contents: %', server, message USING ERRCODE = 'connection_failure';
END
$$;
REVOKE EXECUTE ON FUNCTION gitmem.ask_servers FROM PUBLIC;
"""

# The same functions as without other servers, except that these do the work. {0} is the number of partitions. Bits are
# sent in hexadecimal, a quarter of their own text. `varbit_send` puts four bytes before them.
SEARCH: "Final[LiteralString]" = """
CREATE FUNCTION gitmem.bits_text(bits bit varying) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'x' || substr(encode(varbit_send(bits), 'hex'), 9)
$$;
REVOKE EXECUTE ON FUNCTION gitmem.bits_text FROM PUBLIC;
CREATE OR REPLACE FUNCTION gitmem.near_blobs(
  heads int[], signs bit varying, most int, parts int[] DEFAULT NULL, passing bit varying[] DEFAULT NULL)
RETURNS TABLE (blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB' SET jit = off AS $$
  WITH readable AS MATERIALIZED (
    SELECT found.part, CASE WHEN parts IS NULL THEN found.blobs ELSE found.blobs & filter.bits END AS blobs
    FROM gitmem.readable_parts(heads) found
    LEFT JOIN unnest(parts, passing) filter (part, bits) ON filter.part = found.part
    WHERE parts IS NULL OR filter.part IS NOT NULL),
  requests AS MATERIALIZED (
    SELECT part % {0} AS number, format('SELECT * FROM gitmem_shard.nearest(%L, %L, %L, %s)',
      array_agg(part), array_agg(gitmem.bits_text(blobs)), signs, most) AS request FROM readable GROUP BY 1)
  SELECT first FROM gitmem.ask_servers(
    (SELECT array_agg(number ORDER BY number) FROM requests), (SELECT array_agg(request ORDER BY number) FROM requests))
  ORDER BY second, first LIMIT most
$$;
CREATE OR REPLACE FUNCTION gitmem.term_blobs(heads int[], hashes bigint[])
RETURNS TABLE (hash bigint, blob bigint, code int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB' SET jit = off AS $$
  WITH readable AS MATERIALIZED (SELECT * FROM gitmem.readable_parts(heads)),
  asked AS MATERIALIZED (
    SELECT part % {0} AS number, array_agg(part) AS parts, array_agg(gitmem.bits_text(blobs)) AS blobs
    FROM readable GROUP BY 1),
  lists AS MATERIALIZED (
    SELECT runs.part % {0} AS number, array_agg(runs.id) AS ids, array_agg(runs.part) AS parts,
      array_agg(runs.scale) AS scales
    FROM gitmem.runs JOIN readable ON readable.part = runs.part GROUP BY 1),
  requests AS MATERIALIZED (
    SELECT asked.number, format('SELECT * FROM gitmem_shard.postings(%L, %L, %L, %L, %L, %L)',
      asked.parts, asked.blobs, lists.ids, lists.parts, lists.scales, hashes) AS request
    FROM asked JOIN lists USING (number))
  SELECT * FROM gitmem.ask_servers(
    (SELECT array_agg(number ORDER BY number) FROM requests), (SELECT array_agg(request ORDER BY number) FROM requests))
$$;
"""
