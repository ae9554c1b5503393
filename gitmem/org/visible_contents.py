"""Migration that gives contents to readers through functions alone: texts, rows, sign bits, models and shared records.

As with names (`visible_names`), a condition on a column is enough to read what a policy hides: bytes and bits have
leakproof operators, too. `text < '...'` runs before the policy, and EXPLAIN ANALYZE shows whether the policy ran.
"""

# Readers keep the right to numbers of rows, and to the columns of blobs that filters and counts need: the language and
# the sizes. Everything that changes shared records starts from the refs of the caller.

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

_COLUMNS: "Final[LiteralString]" = """
REVOKE SELECT ON gitmem.blobs, gitmem.signatures, gitmem.producers FROM gitmem_reader;
GRANT SELECT (id, producer, parsed_language, chunks, kinds) ON gitmem.blobs TO gitmem_reader;
REVOKE ALL ON gitmem.memory_refs, gitmem.memory_packs FROM gitmem_reader;
DROP POLICY read ON gitmem.memory_refs;
DROP POLICY read ON gitmem.memory_packs;
DROP POLICY write ON gitmem.memory_packs;
DROP POLICY write ON gitmem.memory_refs;
ALTER TABLE gitmem.memory_refs ALTER owner DROP DEFAULT, ADD CHECK (commit ~ '^([0-9a-f]{40}|[0-9a-f]{64})$');
"""

_BLOBS: "Final[LiteralString]" = """
CREATE FUNCTION gitmem.visible_producers() RETURNS SETOF gitmem.producers
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM gitmem.producers WHERE id IN (SELECT own.producer FROM gitmem.readable_repositories() readable
    JOIN gitmem.heads own ON own.repository = readable.id)
$$;
CREATE FUNCTION gitmem.visible_blobs(blobs bigint[]) RETURNS SETOF gitmem.blobs
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM gitmem.blobs WHERE id IN (SELECT entries.blob FROM gitmem.entries WHERE entries.blob = ANY($1)
    AND entries.head IN (SELECT own.id FROM gitmem.readable_repositories() readable
      JOIN gitmem.heads own ON own.repository = readable.id))
$$;
"""

_RECORDS: "Final[LiteralString]" = """
CREATE FUNCTION gitmem.caller() RETURNS name LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN current_setting('role') = 'none' THEN session_user ELSE current_setting('role')::name END
$$;
CREATE FUNCTION gitmem.visible_refs(repository int) RETURNS TABLE (name text, commit text, is_own boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT refs.name, refs.commit, pg_has_role(gitmem.caller(), refs.owner::oid, 'USAGE')
      OR pg_has_role(gitmem.caller(), 'gitmem_publisher', 'USAGE')
    FROM gitmem.memory_refs refs WHERE refs.repository = $1
      AND refs.repository IN (SELECT readable.id FROM gitmem.readable_repositories() readable)
$$;
CREATE FUNCTION gitmem.list_packs(repository int, name text) RETURNS TABLE (number int, commit text, bytes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT packs.number, packs.commit, length(packs.pack) FROM gitmem.memory_packs packs
    WHERE packs.repository = $1 AND packs.name = $2
      AND packs.repository IN (SELECT readable.id FROM gitmem.readable_repositories() readable)
$$;
CREATE FUNCTION gitmem.read_packs(repository int, name text, above int) RETURNS TABLE (number int, pack bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT packs.number, packs.pack FROM gitmem.memory_packs packs
    WHERE packs.repository = $1 AND packs.name = $2 AND packs.number > $3
      AND packs.repository IN (SELECT readable.id FROM gitmem.readable_repositories() readable)
$$;
CREATE FUNCTION gitmem.move_ref(repository int, name text, old text, new text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH moved AS (
    UPDATE gitmem.memory_refs refs SET commit = $4, moved = now() WHERE refs.repository = $1 AND refs.name = $2
      AND refs.commit = $3 AND EXISTS (SELECT FROM gitmem.visible_refs($1) own WHERE own.name = $2 AND own.is_own)
    RETURNING 1),
  entered AS (
    INSERT INTO gitmem.memory_refs (repository, name, commit, owner)
    SELECT readable.id, $2, $4, quote_ident(gitmem.caller())::regrole FROM gitmem.readable_repositories() readable
    WHERE readable.id = $1 AND $3 IS NULL ON CONFLICT DO NOTHING
    RETURNING 1)
  SELECT EXISTS (SELECT FROM moved) OR EXISTS (SELECT FROM entered)
$$;
CREATE FUNCTION gitmem.remove_packs(repository int, name text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM gitmem.memory_packs packs WHERE packs.repository = $1 AND packs.name = $2
    AND EXISTS (SELECT FROM gitmem.visible_refs($1) own WHERE own.name = $2 AND own.is_own)
$$;
CREATE FUNCTION gitmem.add_pack(repository int, name text, commit text, pack bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO gitmem.memory_packs (repository, name, number, commit, pack)
  SELECT $1, $2, (SELECT coalesce(max(packs.number), -1) + 1 FROM gitmem.memory_packs packs
      WHERE packs.repository = $1 AND packs.name = $2), $3, $4
    FROM gitmem.visible_refs($1) own WHERE own.name = $2 AND own.is_own
$$;
REVOKE EXECUTE ON FUNCTION gitmem.visible_producers, gitmem.visible_blobs, gitmem.caller, gitmem.visible_refs,
  gitmem.list_packs, gitmem.read_packs, gitmem.move_ref, gitmem.remove_packs, gitmem.add_pack FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gitmem.visible_producers, gitmem.visible_blobs, gitmem.visible_refs, gitmem.list_packs,
  gitmem.read_packs, gitmem.move_ref, gitmem.remove_packs, gitmem.add_pack
  TO gitmem_reader, gitmem_publisher, gitmem_admin;
"""

VISIBLE_CONTENTS: "Final[LiteralString]" = _COLUMNS + _BLOBS + _RECORDS
