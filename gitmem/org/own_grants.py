"""Part of the eighth version of the schema: the grants of the caller are looked up by role.

Before, PostgreSQL asked for every grant of the database whether the caller has its role: 0.15 µs each, in each of the
ten functions that a search calls. An organisation of 10,000 repositories may have half a million grants.
"""

# The roles are those that the caller is a member of, by any chain. `pg_has_role` decides which of these count, as it
# did before: a membership may be without INHERIT. The owner of a database belongs to a role that no table names.
#
# LATERAL with OFFSET 0 makes one look-up for each role: the planner would read the table if it expected many grants.

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

OWN_GRANTS: "Final[LiteralString]" = """
CREATE INDEX ON gitmem.grants (role, repository);
CREATE FUNCTION gitmem.own_roles() RETURNS oid[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE own (role) AS (
    SELECT oid FROM pg_roles WHERE rolname = gitmem.caller()
    UNION SELECT 'pg_database_owner'::regrole
    UNION SELECT roleid FROM own JOIN pg_auth_members ON member = own.role)
  SELECT array_agg(role) FROM own WHERE pg_has_role(gitmem.caller(), role, 'USAGE')
$$;
CREATE OR REPLACE FUNCTION gitmem.readable_repositories() RETURNS TABLE (id int) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT repositories.id FROM gitmem.repositories WHERE pg_has_role(gitmem.caller(), 'gitmem_publisher', 'USAGE')
  UNION SELECT own.repository FROM unnest((SELECT gitmem.own_roles())) caller (role)
    CROSS JOIN LATERAL (SELECT repository FROM gitmem.grants WHERE grants.role = caller.role OFFSET 0) own
$$;
CREATE OR REPLACE FUNCTION gitmem.readable_heads(heads int[]) RETURNS TABLE (head int) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT heads.id FROM gitmem.heads WHERE heads.id = ANY($1)
    AND heads.repository IN (SELECT own.id FROM gitmem.readable_repositories() own)
$$;
REVOKE EXECUTE ON FUNCTION gitmem.own_roles FROM PUBLIC;
"""
