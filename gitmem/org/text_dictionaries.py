"""Part of the eighth version of the schema: the text of a blob comes with its record, whose words decompress it.

Older versions of gitmem could read neither the records nor the texts that this one stores. Those that are stored
already stay as they are.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

TEXT_DICTIONARIES: "Final[LiteralString]" = """
DROP FUNCTION gitmem.visible_texts;
CREATE FUNCTION gitmem.visible_texts(blobs bigint[])
RETURNS TABLE (oid bytea, parsed_language text, record bytea, text bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH readable AS MATERIALIZED (SELECT gitmem.readable_of($1) AS ids),
  apart AS MATERIALIZED (SELECT contents.blob, contents.record, contents.text FROM gitmem.contents
    WHERE contents.blob = ANY((SELECT ids FROM readable)::bigint[]))
  SELECT oid, parsed_language, coalesce(apart.record, blobs.record), coalesce(apart.text, blobs.text)
  FROM gitmem.blobs LEFT JOIN apart ON apart.blob = blobs.id
  WHERE blobs.id = ANY((SELECT ids FROM readable)::bigint[])
    AND (apart.blob IS NOT NULL OR octet_length(blobs.text) > 0)
$$;
REVOKE EXECUTE ON FUNCTION gitmem.visible_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gitmem.visible_texts TO gitmem_reader, gitmem_publisher, gitmem_admin;
"""
