"""Schema of the database, as numbered migrations. Each is applied once, in a transaction of its own.

Blobs are stored once, whoever has them, and are visible only through the entries of visible heads. Row-level security
decides that in the engine for every statement, before any ranking, whatever program sends it.
"""

# Rights. A grant names a role of the database; whoever has the privileges of that role sees the repository. Policies
# follow the chain grant, repository, head, entry, blob, each of them through the policy of the table before it, so the
# rule is written down once. FORCE applies them to the owner of the tables, too.
#
# A policy forbids every index whose operator is not marked leakproof, and `@>` on arrays is not: each search for a term
# would read the whole table. Candidates are therefore selected by functions with the rights of the owner. They begin
# with the blobs that the caller may read, and return nothing else; their conditions are fixed, so no function of the
# caller ever sees a foreign row. The caller is the role that `SET ROLE` chose, else the user of the session.
#
# Without `fastupdate`, because each probe of an index reads its pending list to the end.
#
# EXISTS instead of IN: the planner then chooses between one probe per row and a hash table of all visible blobs,
# whichever is cheaper. IN would be a linear search in each row if the hash table did not fit into memory.

from typing import TYPE_CHECKING, Final

from gitmem.errors import GitmemError, NewerFormat
from gitmem.org.memory_schema import MEMORY
from gitmem.org.own_grants import OWN_GRANTS
from gitmem.org.packed_schema import PACKED_SCHEMA
from gitmem.org.partition_schema import PARTITION_SCHEMA
from gitmem.org.rights_first import RIGHTS_FIRST
from gitmem.org.text_dictionaries import TEXT_DICTIONARIES
from gitmem.org.visible_contents import VISIBLE_CONTENTS
from gitmem.org.visible_names import VISIBLE_NAMES

if TYPE_CHECKING:
    from typing import LiteralString

    from gitmem.org.connection import Database

READER: Final = "gitmem_reader"
PUBLISHER: Final = "gitmem_publisher"
ADMIN: Final = "gitmem_admin"
"""Group roles: search, publish, and grant or drop. They belong to the server, so all its databases share them."""

_ROLES: Final = """
DO $$ DECLARE name text; BEGIN
  FOREACH name IN ARRAY ARRAY['gitmem_reader', 'gitmem_publisher', 'gitmem_admin'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;  -- another database of the server has got them meanwhile
      END;
    END IF;
  END LOOP;
END $$;
-- Whoever was made an administrator for one database may create another, and has no right to grant this again.
DO $$ BEGIN
  IF NOT pg_has_role('gitmem_admin', 'USAGE') OR NOT EXISTS (
      SELECT FROM pg_auth_members WHERE member = current_user::regrole AND roleid = 'gitmem_admin'::regrole) THEN
    GRANT gitmem_reader TO gitmem_admin WITH ADMIN OPTION;
    GRANT gitmem_publisher TO gitmem_admin WITH ADMIN OPTION;
    GRANT gitmem_admin TO CURRENT_USER;
  END IF;
END $$;
"""

_TABLES: Final = """
CREATE SCHEMA gitmem;
CREATE TABLE gitmem.schema_version (version int NOT NULL, applied timestamptz NOT NULL DEFAULT now());
CREATE TABLE gitmem.producers (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fingerprint text NOT NULL UNIQUE, dimensions int NOT NULL);
CREATE TABLE gitmem.repositories (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE gitmem.grants (
  repository int NOT NULL REFERENCES gitmem.repositories ON DELETE CASCADE, role regrole NOT NULL,
  source text NOT NULL DEFAULT '', PRIMARY KEY (repository, role));
CREATE TABLE gitmem.heads (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  repository int NOT NULL REFERENCES gitmem.repositories ON DELETE CASCADE, revision text NOT NULL,
  is_default boolean NOT NULL, commit text, tree text NOT NULL, producer int NOT NULL REFERENCES gitmem.producers,
  files bigint NOT NULL, contents bigint NOT NULL, chunks bigint NOT NULL, words bigint NOT NULL, roles jsonb NOT NULL,
  published timestamptz NOT NULL, UNIQUE (repository, revision));
CREATE UNIQUE INDEX ON gitmem.heads (repository) WHERE is_default;
CREATE TABLE gitmem.blobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, oid bytea NOT NULL, language text NOT NULL,
  producer int NOT NULL REFERENCES gitmem.producers, parsed_language text NOT NULL, outcome smallint NOT NULL,
  chunks int NOT NULL, words int NOT NULL, record bytea NOT NULL, vectors bytea NOT NULL, text bytea NOT NULL,
  UNIQUE (oid, language, producer));
ALTER TABLE gitmem.blobs ALTER record SET STORAGE EXTERNAL, ALTER vectors SET STORAGE EXTERNAL,
  ALTER text SET STORAGE EXTERNAL;
CREATE TABLE gitmem.signatures (
  blob bigint PRIMARY KEY REFERENCES gitmem.blobs ON DELETE CASCADE, bits bit varying[] NOT NULL, terms int[] NOT NULL);
CREATE INDEX ON gitmem.signatures USING gin (terms) WITH (fastupdate = off);
CREATE TABLE gitmem.entries (
  head int NOT NULL REFERENCES gitmem.heads ON DELETE CASCADE, path bytea NOT NULL, blob bigint NOT NULL
  REFERENCES gitmem.blobs, words int[] NOT NULL, PRIMARY KEY (head, path));
CREATE INDEX ON gitmem.entries (blob, head);
CREATE INDEX ON gitmem.entries USING gin (words) WITH (fastupdate = off);
"""

_RIGHTS: Final = """
GRANT USAGE ON SCHEMA gitmem TO gitmem_reader, gitmem_publisher, gitmem_admin;
GRANT SELECT ON ALL TABLES IN SCHEMA gitmem TO gitmem_reader, gitmem_publisher, gitmem_admin;
GRANT INSERT, UPDATE, DELETE ON gitmem.producers, gitmem.repositories, gitmem.heads, gitmem.entries, gitmem.blobs,
  gitmem.signatures TO gitmem_publisher, gitmem_admin;
GRANT INSERT, UPDATE, DELETE ON gitmem.grants TO gitmem_admin;
DO $$ DECLARE name text; BEGIN
  FOREACH name IN ARRAY ARRAY['producers', 'repositories', 'grants', 'heads', 'blobs', 'signatures', 'entries'] LOOP
    EXECUTE format('ALTER TABLE gitmem.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE gitmem.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY publish ON gitmem.%I TO gitmem_publisher, gitmem_admin USING (true)', name);
  END LOOP;
END $$;
CREATE POLICY read ON gitmem.grants FOR SELECT TO gitmem_reader USING (pg_has_role(role::oid, 'USAGE'));
CREATE POLICY read ON gitmem.repositories FOR SELECT TO gitmem_reader
  USING (id IN (SELECT repository FROM gitmem.grants));
CREATE POLICY read ON gitmem.heads FOR SELECT TO gitmem_reader
  USING (repository IN (SELECT repository FROM gitmem.grants));
CREATE POLICY read ON gitmem.producers FOR SELECT TO gitmem_reader
  USING (id IN (SELECT producer FROM gitmem.heads));
CREATE POLICY read ON gitmem.entries FOR SELECT TO gitmem_reader USING (head IN (SELECT id FROM gitmem.heads));
CREATE POLICY read ON gitmem.blobs FOR SELECT TO gitmem_reader
  USING (EXISTS (SELECT FROM gitmem.entries WHERE entries.blob = blobs.id));
CREATE POLICY read ON gitmem.signatures FOR SELECT TO gitmem_reader
  USING (EXISTS (SELECT FROM gitmem.entries WHERE entries.blob = signatures.blob));
"""

_FUNCTIONS: Final = """
CREATE FUNCTION gitmem.readable_blobs(heads int[]) RETURNS TABLE (blob bigint) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT entries.blob FROM gitmem.entries WHERE entries.head IN (
    SELECT heads.id FROM gitmem.heads, (SELECT CASE WHEN current_setting('role') = 'none' THEN session_user::text
      ELSE current_setting('role') END AS name) caller
    WHERE heads.id = ANY($1) AND (pg_has_role(caller.name, 'gitmem_publisher', 'USAGE')
      OR EXISTS (SELECT FROM gitmem.grants WHERE grants.repository = heads.repository
        AND pg_has_role(caller.name::name, grants.role::oid, 'USAGE'))))
$$;
CREATE FUNCTION gitmem.near_blobs(heads int[], signs bit varying, most int) RETURNS TABLE (blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' AS $$
  SELECT signatures.blob FROM gitmem.readable_blobs(heads) readable JOIN gitmem.signatures USING (blob)
  CROSS JOIN LATERAL (SELECT min(bit_count(own # signs)) AS distance FROM unnest(bits) own) nearest
  ORDER BY nearest.distance, signatures.blob LIMIT most
$$;
CREATE FUNCTION gitmem.term_blobs(heads int[], keys int[]) RETURNS TABLE (key int, blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '64MB'
SET enable_seqscan = off AS $$
  WITH readable AS MATERIALIZED (SELECT * FROM gitmem.readable_blobs(heads))
  SELECT wanted.key, readable.blob FROM unnest(keys) wanted (key)
  CROSS JOIN LATERAL (SELECT signatures.blob FROM gitmem.signatures WHERE terms @> ARRAY[wanted.key] OFFSET 0) found
  JOIN readable ON readable.blob = found.blob
$$;
CREATE FUNCTION gitmem.path_blobs(heads int[], keys int[]) RETURNS TABLE (key int, blob bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '64MB'
SET enable_seqscan = off AS $$
  WITH readable AS MATERIALIZED (SELECT * FROM gitmem.readable_blobs(heads))
  SELECT DISTINCT wanted.key, readable.blob FROM unnest(keys) wanted (key)
  CROSS JOIN LATERAL (SELECT entries.blob FROM gitmem.entries
    WHERE words @> ARRAY[wanted.key] AND head = ANY(heads) OFFSET 0) found
  JOIN readable ON readable.blob = found.blob
$$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA gitmem FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA gitmem TO gitmem_reader, gitmem_publisher, gitmem_admin;
"""

MIGRATIONS: "Final[tuple[LiteralString, ...]]" = (
    _ROLES + _TABLES + _RIGHTS + _FUNCTIONS,
    PACKED_SCHEMA,
    VISIBLE_NAMES,
    MEMORY,
    VISIBLE_CONTENTS,
    PARTITION_SCHEMA,
    RIGHTS_FIRST,
    TEXT_DICTIONARIES + OWN_GRANTS,
)
"""Version n of the schema is the result of the first n migrations. Append only: databases have run the others."""

_LOCK: Final = 0x6769746D  # "gitm"; two administrators must not migrate at once


def read_version(database: "Database") -> int:
    """Return the version of the schema, 0 if there is none."""
    exists = database.execute("SELECT to_regclass('gitmem.schema_version') IS NOT NULL").fetchone()
    if exists is None or not exists[0]:
        return 0
    row = database.execute("SELECT max(version) FROM gitmem.schema_version").fetchone()
    return int(str(row[0])) if row and row[0] is not None else 0


def require_version(database: "Database") -> None:
    """Raise an error unless the schema is that of this version of gitmem."""
    version = read_version(database)
    if not version:
        raise GitmemError("the database has no schema of gitmem", hint="an administrator runs `gitmem org init DSN`")
    if version > len(MIGRATIONS):
        raise NewerFormat(f"the database has schema {version}, this gitmem knows {len(MIGRATIONS)}", hint=_UPGRADE)
    if version < len(MIGRATIONS):
        raise GitmemError(
            f"the database has schema {version}, this gitmem needs {len(MIGRATIONS)}",
            hint="an administrator runs `gitmem org migrate`",
        )


_UPGRADE: Final = "upgrade gitmem here"


def migrate(database: "Database") -> tuple[int, int]:
    """Apply the migrations that are missing; return the versions before and after. Raises NewerFormat."""
    database.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    before = read_version(database)
    if before > len(MIGRATIONS):
        raise NewerFormat(f"the database has schema {before}, this gitmem knows {len(MIGRATIONS)}", hint=_UPGRADE)
    for number, statements in enumerate(MIGRATIONS[before:], before + 1):
        database.execute(statements)
        database.execute("INSERT INTO gitmem.schema_version (version) VALUES (%s)", (number,))
    database.commit()
    return before, len(MIGRATIONS)
